// The list of conversations: what each does now, and when something last happened in it.
import { Latest } from "../parts/async_order.js";
import { sinceThen } from "../parts/dates.js";
import { byId, h } from "../parts/dom.js";
import { waitsForRelease } from "../parts/press.js";
import { api } from "../connection/api.js";
import { oneLine } from "../terminal/command_text.js";

/** @typedef {import("../../types.d.ts").Description} Description */

/** state → glyph, words */
export const STATES = /** @type {Record<string, [string, string]>} */ ({
  new: ["○", "new"],
  running: ["▶", "running"],
  secret: ["!", "waiting for a secret"],
  idle: ["●", "idle"],
  ended: ["□", "ended"],
});

const EVERY = 4000; // ms between two reads of the list, while the page is visible

/** Says a state with a glyph and in words. @param {HTMLElement} element @param {string} state @param {string} [words] */
export function showState(element, state, words) {
  const [glyph, usual] = STATES[state] ?? ["○", state];
  const key = `${state} ${words ?? usual}`;
  if (element.dataset.said === key) return;
  element.dataset.said = key;
  element.dataset.state = state;
  element.replaceChildren(h("span.glyph", { "aria-hidden": "true" }, glyph), ` ${words ?? usual}`);
}

/** @param {Description} each */
export const nameOf = (each) => each.name || each.id;

export class ConversationList {
  /** @param {{ changed: (all: Description[]) => void, failed: (error: unknown) => void }} hands */
  constructor(hands) {
    this.hands = hands;
    /** @type {Description[]} */
    this.all = [];
    this.current = "";
    this.timer = 0;
    this.reads = new Latest();
    /** @type {Map<string, HTMLElement>} */
    this.items = new Map();
    byId("filter", HTMLInputElement).addEventListener("input", () => this.draw());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.load(); });
  }

  /** Reads the list now, and from time to time. */
  async load() {
    const isLast = this.reads.begin();
    clearTimeout(this.timer);
    try {
      const all = (await api.conversations()).conversations;
      if (!isLast()) return;
      this.all = all;
      this.draw();
      this.hands.changed(this.all);
    } catch (error) {
      if (!isLast()) return;
      this.hands.failed(error);
    }
    clearTimeout(this.timer);
    if (!document.hidden) this.timer = setTimeout(() => this.load(), EVERY);
  }

  /** @param {string} id */
  get(id) {
    return this.all.find((each) => each.id === id);
  }

  /** @param {string} id */
  select(id) {
    this.current = id;
    this.draw();
  }

  draw() {
    if (waitsForRelease(byId("conversation-list"), () => this.draw())) return;
    const words = byId("filter", HTMLInputElement).value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.all.filter((each) => words.every((word) => `${each.name} ${each.id} ${each.cwd ?? ""} ${each.running ?? ""} ${STATES[each.state]?.[1] ?? ""}`.toLowerCase().includes(word)));
    const list = byId("conversation-list"), wanted = shown.map((each) => this.item(each));
    wanted.forEach((item, index) => { if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null); });
    while (list.children.length > wanted.length) list.lastElementChild?.remove();
    byId("conversation-none").hidden = shown.length > 0;
    byId("conversation-none").textContent = this.all.length ? "None of that name." : "None yet.";
  }

  /** @param {Description} each */
  item(each) {
    let item = this.items.get(each.id);
    if (!item) {
      item = h("li", null, h("a.conversation", { href: `#c=${encodeURIComponent(each.id)}` }, h("strong"), h("span.line", null, h("span.state"), h("time")), h("span.doing")));
      this.items.set(each.id, item);
    }
    const link = /** @type {HTMLElement} */ (item.firstElementChild), [name, line, doing] = /** @type {HTMLElement[]} */ ([...link.children]);
    if (!name || !line || !doing) return item;
    const put = (/** @type {Element | null} */ element, /** @type {string} */ text) => { if (element && element.textContent !== text) element.textContent = text; };
    put(name, nameOf(each));
    showState(/** @type {HTMLElement} */ (line.firstElementChild), each.state);
    put(line.lastElementChild, sinceThen(each.last_activity));
    put(doing, each.running ? oneLine(each.running) : "");
    doing.hidden = !each.running;
    if (each.id === this.current) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    return item;
  }
}
