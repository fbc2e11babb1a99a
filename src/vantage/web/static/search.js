// Search: here or everywhere, from the keyboard; a hit leads to its row.
import { api } from "./api.js";
import { byId, h, soon } from "./dom.js";
import { sinceThen } from "./moments.js";

const SETTLE = 140; // ms after the last key

/** @typedef {{ conversation_id: string, seq: number, kind: string, ts: number, text: string, ranges: [number, number][] }} Hit */

export class Search {
  /** @param {{ conversation: () => string, nameOf: (id: string) => string, go: (conversation: string, seq: number) => void }} hands */
  constructor(hands) {
    this.hands = hands;
    this.dialog = byId("search", HTMLDialogElement);
    this.field = byId("search-field", HTMLInputElement);
    /** @type {Hit[]} */
    this.hits = [];
    this.chosen = 0;
    this.asked = 0;
    const look = soon(SETTLE, () => this.look());
    this.field.addEventListener("input", look);
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.dialog.querySelector("form")?.addEventListener("submit", (event) => {
      if (event.submitter === null) event.preventDefault();
    });
    byId("scope").addEventListener("change", () => this.look());
    byId("hits").addEventListener("click", (event) => {
      const item = event.target instanceof Element ? event.target.closest(".hit") : null;
      if (item) this.open([...byId("hits").children].indexOf(item));
    });
    byId("find").addEventListener("click", () => this.start());
  }

  start() {
    const here = this.hands.conversation(), scope = /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=scope]"));
    for (const radio of scope) {
      if (radio.value === "here") radio.disabled = !here;
      if (!document.querySelector("input[name=scope]:checked:enabled")) radio.checked = radio.value === (here ? "here" : "all");
    }
    if (!this.dialog.open) this.dialog.showModal();
    this.field.focus();
    this.field.select();
    this.look();
  }

  get everywhere() {
    return /** @type {HTMLInputElement | null} */ (document.querySelector("input[name=scope]:checked"))?.value !== "here";
  }

  async look() {
    const query = this.field.value.trim(), number = ++this.asked;
    if (!query) {
      this.hits = [];
      this.draw("Words that must all be there; “quoted words” stay together.");
      return;
    }
    let word = "";
    try {
      const answer = await api.search(query, this.everywhere ? undefined : this.hands.conversation());
      if (number !== this.asked) return;
      this.hits = answer.hits;
      if (!this.hits.length) word = answer.behind ? "Nothing yet: the index is still being made." : "Nothing found.";
      else if (answer.next) word = `The newest ${this.hits.length} hits; more words find fewer.`;
      else word = `${this.hits.length} ${this.hits.length === 1 ? "hit" : "hits"}`;
    } catch (error) {
      if (number !== this.asked) return;
      this.hits = [];
      word = error instanceof Error ? error.message : String(error);
    }
    this.chosen = 0;
    this.draw(word);
  }

  /** @param {string} word */
  draw(word) {
    byId("search-word").textContent = word;
    const several = this.everywhere;
    byId("hits").replaceChildren(...this.hits.map((hit, n) => h("li.hit", { role: "option", id: `hit-${n}`, "aria-selected": String(n === this.chosen) },
      h("span.where", null, h("span", null, several ? `${this.hands.nameOf(hit.conversation_id)} · ${hit.kind}` : hit.kind), h("span", null, sinceThen(hit.ts))),
      h("span.text", null, ...marked(hit)))));
    this.field.setAttribute("aria-expanded", String(this.hits.length > 0));
    this.choose(this.chosen);
  }

  /** @param {number} n */
  choose(n) {
    const list = byId("hits");
    this.chosen = Math.min(Math.max(n, 0), Math.max(this.hits.length - 1, 0));
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", String(index === this.chosen)));
    const item = list.children[this.chosen];
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.field.setAttribute("aria-activedescendant", item.id);
    else this.field.removeAttribute("aria-activedescendant");
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const way = event.key === "ArrowDown" || (event.ctrlKey && event.key === "n") ? 1 : event.key === "ArrowUp" || (event.ctrlKey && event.key === "p") ? -1 : 0;
    if (way) this.choose(this.chosen + way);
    else if (event.key === "Enter") this.open(this.chosen);
    else if (event.key === "Escape") this.dialog.close(); // a field of this kind would take the first one to empty itself
    else return;
    event.preventDefault();
  }

  /** @param {number} n */
  open(n) {
    const hit = this.hits[n];
    if (!hit) return;
    this.dialog.close();
    this.hands.go(hit.conversation_id, hit.seq);
  }
}

/** The text with its hits marked; ranges count code points. @param {Hit} hit */
function marked(hit) {
  const points = [...hit.text], parts = [];
  let at = 0;
  for (const [start, end] of hit.ranges) {
    if (start > at) parts.push(points.slice(at, start).join(""));
    parts.push(h("mark", null, points.slice(Math.max(start, at), end).join("")));
    at = Math.max(end, at);
  }
  parts.push(points.slice(at).join(""));
  return parts;
}
