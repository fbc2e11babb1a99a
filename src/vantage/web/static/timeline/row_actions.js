// What the pointer does in a row: copies a source, follows an action or a link inside the row, shows a title that is cut.
import { copyText } from "../parts/clipboard.js";
import { copySource } from "./row_source.js";

/** @typedef {import("./rows.js").Row} Row */

/**
 * Returns whether the click was for something in the row, and not for the row itself.
 * @param {MouseEvent} event
 * @param {Row} row
 * @param {string} conversation
 * @param {(n: number) => void} goTo
 */
export function clickedIn(event, row, conversation, goTo) {
  const target = event.target instanceof Element ? event.target : null;
  if (!target) return true;
  const copy = /** @type {HTMLElement | null} */ (target.closest("[data-copy]"));
  const action = /** @type {HTMLElement | null} */ (target.closest("[data-action]"));
  const inside = target.closest("a.v-link[href^='#']");
  if (copy?.dataset.copy === "row") copySource(conversation, row.id);
  else if (copy?.dataset.copy === "code") copyText(copy.closest(".v-code")?.querySelector("code")?.cloneNode(true) ?? null);
  else if (copy) copySource(conversation, row.id, copy.dataset.copy);
  else if (action?.dataset.action === "copy") copyText(action.dataset.value ?? "");
  else if (action?.dataset.action === "goto") goTo(Number((action.dataset.value ?? "").replace(/^r/, "")));
  else if (inside) {
    event.preventDefault();
    document.getElementById(inside.getAttribute("href")?.slice(1) ?? "")?.scrollIntoView({ block: "nearest" });
  } else return target.closest("a, button") !== null;
  return true;
}

/** A title that is cut has the whole text as its tooltip. @param {PointerEvent} event */
export function pointedAt(event) {
  const head = event.target instanceof Element ? event.target.closest("summary.v-head") : null, title = head?.querySelector(".v-title");
  if (!head || !title) return;
  const cut = title.scrollHeight > title.clientHeight + 2 || title.scrollWidth > title.clientWidth + 2;
  if (cut) head.setAttribute("title", title.textContent ?? "");
  else head.removeAttribute("title");
}
