// Search: here or everywhere, from the keyboard; a hit leads to its row.
import { Latest, soon } from "../parts/async_order.js";
import { sinceThen } from "../parts/dates.js";
import { byId, h } from "../parts/dom.js";
import { wordsOf } from "../parts/messages.js";
import { waitsForRelease } from "../parts/press.js";
import { api } from "../connection/api.js";

const SETTLE = 140; // ms after the last key

/** @typedef {{ conversation_id: string, seq: number, kind: string, ts: number, text: string, ranges: [number, number][] }} Hit */

export class SearchDialog {
  /** @param {{ conversation: () => string, nameOf: (id: string) => string, go: (conversation: string, seq: number) => void }} hands */
  constructor(hands) {
    this.hands = hands;
    this.dialog = byId("search", HTMLDialogElement);
    this.field = byId("search-field", HTMLInputElement);
    /** @type {Hit[]} */
    this.hits = [];
    /** The question that the hits answer. */
    this.answered = "";
    /** Whether Enter was pressed before the answer was here: its first hit is opened then. */
    this.opens = false;
    this.chosen = 0;
    this.questions = new Latest();
    const look = soon(SETTLE, () => this.look());
    this.field.addEventListener("input", () => {
      this.opens = false;
      look();
    });
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.dialog.querySelector("form")?.addEventListener("submit", (event) => {
      if (event.submitter === null) event.preventDefault();
    });
    byId("scope").addEventListener("change", () => {
      this.opens = false;
      this.look();
    });
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
    this.opens = false;
    if (this.answered !== this.question) { // of another conversation, or of words that had no answer
      this.hits = [];
      this.answered = "";
      this.draw("");
    }
    this.look();
  }

  /** What is asked now: the words, and where they are looked for. */
  get question() {
    const words = this.field.value.trim();
    return words && JSON.stringify([words, this.everywhere ? "" : this.hands.conversation()]);
  }

  get everywhere() {
    return /** @type {HTMLInputElement | null} */ (document.querySelector("input[name=scope]:checked"))?.value !== "here";
  }

  async look() {
    const query = this.field.value.trim(), { question } = this, isLast = this.questions.begin();
    if (!query) {
      this.hits = [];
      this.answered = "";
      this.draw("Finds rows that have all the words; “quoted words” stay together.");
      return;
    }
    /** @type {Hit[]} */
    let hits = [], word = "";
    try {
      const answer = await api.search(query, this.everywhere ? undefined : this.hands.conversation());
      if (!isLast()) return;
      hits = answer.hits;
      if (!hits.length) word = answer.behind ? "Nothing found yet: the index is still being built." : "Nothing found.";
      else if (answer.next) word = `The newest ${hits.length} hits; more words find fewer.`;
      else word = `${hits.length} ${hits.length === 1 ? "hit" : "hits"}`;
    } catch (error) {
      if (!isLast()) return;
      word = wordsOf(error);
    }
    const show = () => { if (isLast()) this.show(question, hits, word); };
    if (!waitsForRelease(byId("hits"), show)) show();
  }

  /** Shows an answer. @param {string} question @param {Hit[]} hits @param {string} word */
  show(question, hits, word) {
    const before = question === this.answered ? this.hits[this.chosen] : undefined; // the same question again: what was chosen stays chosen
    this.hits = hits;
    this.answered = question;
    this.chosen = Math.max(hits.findIndex((hit) => hit.conversation_id === before?.conversation_id && hit.seq === before.seq), 0);
    this.draw(word);
    if (this.opens && this.dialog.open) this.open(this.chosen);
    this.opens = false;
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
    if (event.isComposing) return; // the key is the input method's
    const way = event.key === "ArrowDown" || (event.ctrlKey && event.key === "n") ? 1 : event.key === "ArrowUp" || (event.ctrlKey && event.key === "p") ? -1 : 0;
    if (way) this.choose(this.chosen + way);
    else if (event.key === "Enter") this.enter();
    else if (event.key === "Escape") this.dialog.close(); // a field of this kind would take the first one to empty itself
    else return;
    event.preventDefault();
  }

  /** Opens the chosen hit; when the hits are not those of the words in the field, the first one of theirs once it is here. */
  enter() {
    if (this.answered === this.question && this.hits.length) {
      this.open(this.chosen);
      return;
    }
    this.opens = true;
    this.look();
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
