// A row's markup in two parts: the head, and a body that is drawn when it is opened.
import { h, icon, markup } from "../parts/dom.js";
import { showPicture } from "./pictures.js";

const FOLDED = '<details class="v-details"', BODY = '<div class="v-body">', END = "</div></details></article>";

/** Text in a row is escaped, so the first of these marks are the row's own. @param {string} html */
function cut(html) {
  const folded = html.indexOf(FOLDED), start = folded < 0 ? -1 : html.indexOf(BODY, folded);
  return start < 0 || !html.endsWith(END) ? null : { start: start + BODY.length, end: html.length - END.length };
}

/**
 * The row; the body of one that can be opened is left out.
 * @param {{ html: string }} row
 * @param {string} conversation
 */
export function entryMarkup(row, conversation) {
  const place = cut(row.html);
  return ready(markup(place ? row.html.slice(0, place.start) + END : row.html), conversation);
}

/** @param {{ html: string }} row @param {string} conversation */
export function entryBody(row, conversation) {
  const place = cut(row.html);
  return ready(markup(place ? row.html.slice(place.start, place.end) : ""), conversation);
}

/** Where pictures are and where links open is known here, not where rows are drawn. @param {DocumentFragment} part @param {string} conversation */
function ready(part, conversation) {
  for (const image of part.querySelectorAll("img.v-image")) {
    const source = image.getAttribute("src") ?? "";
    if (!source.startsWith("assets/")) continue;
    image.removeAttribute("src");
    showPicture(image, `/conversations/${encodeURIComponent(conversation)}/${source}`);
  }
  for (const link of part.querySelectorAll("a[href]")) {
    if (link.getAttribute("href")?.startsWith("#")) continue;
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer nofollow");
  }
  return part;
}

const COPIED = ["code", "ansi", "output", "terminal", "diff", "table", "markdown", "checklist", "kv", "text"];

/** Gives what can be copied its button. @param {HTMLElement} element */
export function finish(element) {
  for (const block of element.querySelectorAll(".v-details .v-block[data-block]")) {
    const kind = COPIED.find((name) => block.classList.contains(`v-block-${name}`));
    if (kind) block.append(button(/** @type {HTMLElement} */ (block).dataset.block ?? ""));
  }
  for (const action of element.querySelectorAll("button[data-action=send]")) { // the page cannot send messages to an agent
    action.setAttribute("disabled", "");
    action.setAttribute("title", "Nothing is connected that takes this action");
  }
  for (const figure of element.querySelectorAll(".v-markdown .v-code")) figure.append(button("code"));
}

/** @param {string} what */
function button(what) {
  return h("button.copy", { type: "button", "data-copy": what, title: "Copy", "aria-label": "Copy" }, icon("copy"));
}
