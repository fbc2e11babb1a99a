// The rows that are in the page: a range of them, each with its element, between two blank boxes as high as the others.
//
// It measures what it draws. A row that a person uses (selects in, holds down) is replaced when that is over.
import { h } from "../parts/dom.js";
import { waitsForRelease } from "../parts/press.js";
import { OpenRows } from "./open_rows.js";
import { carryOver, leadOf, rowElement, waitingElement } from "./row_element.js";
import { Heights } from "./row_heights.js";

/** @typedef {import("./rows.js").Rows} Rows @typedef {import("./rows.js").Row} Row */
/** @typedef {{ n: number, element: HTMLElement, row: Row | null, open: boolean, lead: string }} Shown */

export const GUESS = 34; // px

export class RowWindow {
  /**
   * @param {HTMLElement} scroller
   * @param {import("./request_cards.js").RequestCards} cards
   * @param {() => void} changed called when a row has to be drawn again, or another height was measured
   */
  constructor(scroller, cards, changed) {
    this.scroller = scroller;
    this.cards = cards;
    this.changed = changed;
    this.before = h("div");
    this.after = h("div");
    scroller.append(h("div.entries", null, this.before, this.after, h("div.entries-end")));
    /** @type {Rows | null} */
    this.rows = null;
    this.conversation = "";
    this.heights = new Heights(GUESS);
    this.openRows = new OpenRows("");
    /** @type {Map<number, Shown>} */
    this.shown = new Map();
    this.current = 0;
    /** @type {Set<Shown>} */
    this.unmeasured = new Set();
    this.observer = new ResizeObserver((changes) => this.resized(changes));
  }

  /** @param {string} id @param {Rows} rows */
  open(id, rows) {
    for (const each of this.shown.values()) each.element.remove();
    this.observer.disconnect();
    this.shown.clear();
    this.unmeasured.clear();
    this.conversation = id;
    this.rows = rows;
    this.heights = new Heights(GUESS);
    this.openRows = new OpenRows(id);
    this.current = 0;
  }

  /** The first and the last row that is in the page. */
  get range() {
    return /** @type {[number, number]} */ ([Math.min(...this.shown.keys()), Math.max(...this.shown.keys())]);
  }

  /** Only these rows are in the page, in their order. @param {number} first @param {number} last */
  keep(first, last) {
    for (const [n, each] of this.shown) {
      if (n >= first && n <= last) continue;
      if (each.element.contains(document.activeElement)) this.scroller.focus({ preventScroll: true });
      this.observer.unobserve(each.element);
      this.unmeasured.delete(each);
      each.element.remove();
      this.shown.delete(n);
    }
    let previous = this.before;
    for (let n = first; n <= last; n++) {
      const element = this.entry(n);
      if (previous.nextSibling !== element) previous.after(element);
      previous = element;
    }
  }

  /** Measures the rows that were drawn since the last call. Returns whether there were any. */
  measure() {
    const any = this.unmeasured.size > 0;
    for (const each of this.unmeasured) this.heights.set(each.n, each.element.getBoundingClientRect().height);
    this.unmeasured.clear();
    return any;
  }

  /** @param {ResizeObserverEntry[]} changes */
  resized(changes) {
    let moved = false;
    if (!this.scroller.clientHeight) return;
    for (const { target, borderBoxSize } of changes) {
      const n = Number(/** @type {HTMLElement} */ (target).dataset.n), height = borderBoxSize[0]?.blockSize ?? 0;
      if (this.shown.get(n)?.element === target && Math.abs(this.heights.set(n, height)) > 0.01) moved = true;
    }
    if (moved) this.changed();
  }

  /** @param {number} first @param {number} last */
  pad(first, last) {
    this.before.style.height = `${this.heights.top(first)}px`;
    this.after.style.height = `${Math.max(this.heights.total - this.heights.top(last + 1), 0)}px`;
  }

  /** The element of a row, as it is now. @param {number} n @returns {HTMLElement} */
  entry(n) {
    const row = this.rows?.get(n) ?? null, known = this.shown.get(n);
    const open = row !== null && this.openRows.isOpen(row.id);
    const above = row ? leadOf(row, this.rows?.get(n - 1)) : { day: "", agent: "" }, lead = `${above.day}\n${above.agent}`;
    if (known && known.row === row && known.open === open && known.lead === lead) return known.element;
    if (known && row && known.row && this.inUse(known)) return known.element; // it is replaced later
    const element = row ? rowElement(row, above, this.conversation, open) : waitingElement(n);
    if (row?.outline.request) this.cards.fill(element, row.outline.request);
    if (n === this.current) element.setAttribute("aria-current", "true");
    if (known) {
      if (row && known.row) carryOver(known.element, element);
      this.observer.unobserve(known.element);
      known.element.replaceWith(element);
    }
    const shown = { n, element, row, open, lead };
    if (known) this.unmeasured.delete(known);
    this.shown.set(n, shown);
    this.unmeasured.add(shown);
    this.observer.observe(element);
    return element;
  }

  /** Whether a person selects text of a row, holds it down, or has opened or closed it and the event is on its way. @param {Shown} shown */
  inUse({ element, open }) {
    const selection = getSelection(), details = element.querySelector("details.v-details");
    return (selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode)) ||
      (details instanceof HTMLDetailsElement && details.open !== open) || waitsForRelease(element, this.changed);
  }

  /** A row's `details` were opened or closed. Returns whether that is news. @param {number} n @param {boolean} open */
  toggled(n, open) {
    const shown = this.shown.get(n);
    if (!shown?.row || shown.open === open) return false;
    this.openRows.set(shown.row.id, open);
    shown.open = open;
    this.unmeasured.add(shown);
    return true;
  }

  /** Marks a row as the current one, which keys are about. @param {number} n */
  mark(n) {
    this.shown.get(this.current)?.element.removeAttribute("aria-current");
    this.current = n;
    this.shown.get(n)?.element.setAttribute("aria-current", "true");
  }
}
