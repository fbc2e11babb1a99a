// Puts text on the clipboard, and says so.
import { notice, say, wordsOf } from "./messages.js";

/**
 * Puts text on the clipboard. It may still be on its way: browsers that allow copying only at the moment of a click
 * take a promise.
 * @param {string | Promise<string> | Node | null} what
 */
export async function copyText(what) {
  try {
    if (what instanceof Element) for (const number of what.querySelectorAll(".v-line-number")) number.remove();
    const text = what instanceof Node ? Promise.resolve(what.textContent ?? "") : Promise.resolve(what ?? "");
    if (navigator.clipboard && typeof ClipboardItem !== "undefined") {
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": text.then((value) => new Blob([value], { type: "text/plain" })) })]);
    } else copyByHand(await text);
    say("copied");
    notice(`Copied ${count((await text).length)}.`);
  } catch (error) {
    notice(`That could not be copied: ${wordsOf(error)}`);
  }
}

/** @param {number} length */
const count = (length) => `${length.toLocaleString()} ${length === 1 ? "character" : "characters"}`;

/** Where there is no clipboard to write to: a page that did not come over a safe way. @param {string} text */
function copyByHand(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("the browser does not allow it");
}
