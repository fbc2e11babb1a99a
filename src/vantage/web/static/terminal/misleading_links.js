// Links of a terminal (OSC 8) whose text shows one address and that lead to another: as document/addresses.py has it for
// other links, with the browser's own reading of hosts. It is the more careful one: a file's name may pass for a host.
import { cellsOf } from "./styled_pieces.js";

const WORDS = /[^\s<>()[\]{}"'`,;|“”‘’«»]+/gu;
const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}/;
const DOMAIN = /^(?:[\p{L}\p{N}_-]+\.)+(?:xn--[\p{L}\p{N}_-]+|\p{L}{2,})$/u;
const NUMBERS = /^\d{1,3}(?:\.\d{1,3}){3}$/;

/** A host, written as a browser writes it. @param {string} host */
function same(host) {
  try {
    host = new URL(`http://${host}`).hostname;
  } catch {} // what is no host equals none
  return host.replace(/^www\./, "").replace(/\.$/, "");
}

/** The host that a word shows, if it shows one. @param {string} word */
function shownHost(word) {
  const scheme = SCHEME.exec(word)?.[0] ?? "", authority = word.slice(scheme.length).replace(/^mailto:/, "").split(/[/\\?#]/)[0] ?? "";
  if (scheme && authority.includes("@")) return authority; // a user name, which may look like the host
  const host = authority.slice(authority.lastIndexOf("@") + 1).replace(/:\d*$/, "").replace(/^[.:!?…*_~]+|[.:!?…*_~]+$/g, "");
  return scheme || NUMBERS.test(host) || DOMAIN.test(host) ? same(host) : "";
}

/** Whether a link with this text shows an address that is not where it leads. @param {string} text @param {string} link */
export function showsAnother(text, link) {
  let url;
  try {
    url = new URL(link);
  } catch {
    return true;
  }
  if (url.username || url.password) return true;
  const target = same(url.protocol === "mailto:" ? url.pathname.slice(url.pathname.lastIndexOf("@") + 1) : url.hostname);
  const plain = text.normalize("NFKC").replace(/[。．｡]/g, ".").replace(/[\p{Cf}\p{Cc}\p{Mn}\p{Me}]/gu, "").toLowerCase();
  return [...plain.matchAll(WORDS)].some(([word]) => !["", target].includes(shownHost(word)));
}

/** @typedef {{ text: string, runs: { link?: string | null }[] }} Line */
/** @typedef {{ start: number, cells: number, text: string, run: { link?: string | null } | null }} Part */

/**
 * The parts of a row whose link shows another address. What counts is what a person reads as one: pieces of the link that
 * stand side by side, with the characters that touch them, over the end of a full row too.
 * @template {Part} P
 * @param {P[]} parts
 * @param {number} cols
 * @param {Line} [above]
 * @param {Line} [below]
 * @returns {Set<P>}
 */
export function misleading(parts, cols, above, below) {
  /** @type {Set<P>} */
  const found = new Set();
  let whole = "", at = 0;
  const places = parts.map((part) => {
    whole += " ".repeat(Math.max(part.start - at, 0));
    at = part.start + part.cells;
    whole += part.text;
    return [whole.length - part.text.length, whole.length];
  });
  for (let first = 0; first < parts.length; first++) {
    const link = parts[first]?.run?.link;
    if (!link) continue;
    let last = first;
    while (parts[last + 1]?.run?.link === link && places[last + 1]?.[0] === places[last]?.[1]) last++;
    const from = places[first]?.[0] ?? 0, to = places[last]?.[1] ?? 0;
    let text = (/\S*$/.exec(whole.slice(0, from))?.[0] ?? "") + whole.slice(from, to) + (/^\S*/.exec(whole.slice(to))?.[0] ?? "");
    if (above && !/\s/.test(whole.slice(0, from + 1)) && widthOf(above.text) >= cols) text = (/\S*$/.exec(above.text)?.[0] ?? "") + text;
    if (below && at >= cols && !/\s/.test(whole.slice(to))) text += /^\S*/.exec(below.text)?.[0] ?? "";
    if (showsAnother(text, link)) for (let n = first; n <= last; n++) found.add(/** @type {P} */ (parts[n]));
    first = last;
  }
  return found;
}

/** @param {string} text */
const widthOf = (text) => [...text].reduce((sum, character) => sum + cellsOf(character.codePointAt(0) ?? 0), 0);
