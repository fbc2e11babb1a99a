// Keys of the page. They act outside of text fields and dialogs, and are all in one table; arrows and the like stay the browser's.
import { byId, h } from "../parts/dom.js";
import { takesText } from "../parts/focus.js";

/** @typedef {{ key: string, words: string, act: () => void }} Shortcut */

/** @param {Shortcut[]} table */
export function startShortcuts(table) {
  const list = byId("keys-list");
  for (const { key, words } of table) list.append(h("div", null, h("dt", null, h("kbd", null, key)), h("dd", null, words)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (takesText(event.target instanceof Element ? event.target : null) || document.querySelector("dialog[open]")) return;
    const found = table.find(({ key }) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found.act();
  });
}
