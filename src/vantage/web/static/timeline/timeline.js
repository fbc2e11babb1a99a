// The timeline: any number of rows, of which only those near the viewport are in the page.
//
// Every row has a place and a height, measured or guessed. The row at the top of the viewport is the anchor: it stays where
// it is, whatever is drawn above it. At the end of the timeline, the end is the anchor (`pinned`).
// This module decides which rows are shown and where; `RowWindow` puts them into the page, `RowLoader` fetches them.
import { Latest } from "../parts/async_order.js";
import { byId } from "../parts/dom.js";
import { canMoveFocus } from "../parts/focus.js";
import { say } from "../parts/messages.js";
import { clickedIn, pointedAt } from "./row_actions.js";
import { fillBody } from "./row_element.js";
import { RowLoader } from "./row_loader.js";
import { copySource } from "./row_source.js";
import { GUESS, RowWindow } from "./row_window.js";

/** @typedef {import("./rows.js").Rows} Rows */

const OVERSCAN = 500; // px above and below the viewport
const AT_END = 6; // px
const SCROLL_KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);

export class Timeline {
  /** @param {HTMLElement} scroller @param {import("./request_cards.js").RequestCards} cards */
  constructor(scroller, cards) {
    this.scroller = scroller;
    this.cards = cards;
    /** @type {Rows | null} */
    this.rows = null;
    this.conversation = "";
    this.width = 80;
    this.window = new RowWindow(scroller, cards, () => this.refresh());
    this.loader = new RowLoader({
      wanted: () => this,
      came: (rows) => {
        rows.forgetBeyond(...this.window.range);
        this.refresh();
      },
    });
    this.anchor = { n: 1, offset: 0 };
    this.pinned = true;
    this.expected = 0;
    this.seen = 0; // number of rows when the end was last in sight
    /** Every move to another place; one that waits for rows ends when a later one begins. */
    this.moves = new Latest();
    this.frame = 0;
    this.viewport = 0;
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    for (const name of ["wheel", "touchmove", "pointerdown"]) scroller.addEventListener(name, () => this.moves.begin(), { passive: true });
    scroller.addEventListener("keydown", (event) => { if (SCROLL_KEYS.has(event.key)) this.moves.begin(); });
    scroller.addEventListener("click", (event) => this.clicked(event));
    scroller.addEventListener("toggle", (event) => this.toggled(event), true);
    scroller.addEventListener("pointerover", pointedAt, { passive: true });
    scroller.addEventListener("focusin", (event) => this.focused(event));
    new ResizeObserver(() => {
      this.viewport = scroller.clientHeight;
      this.refresh();
    }).observe(scroller);
    byId("latest").addEventListener("click", () => this.toEnd());
  }

  /** Shows a conversation, from its end. @param {string} id @param {Rows} rows */
  open(id, rows) {
    this.window.open(id, rows);
    this.conversation = id;
    if (rows !== this.rows) this.cards.open(id);
    this.rows = rows;
    this.anchor = { n: 1, offset: 0 };
    this.pinned = true;
    this.seen = 0;
    this.loader.loading = null;
    this.moves.begin();
    this.refresh();
  }

  /** Draws the rows at the next frame. */
  refresh() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  get openRows() {
    return this.window.openRows;
  }

  // where we are

  scrolled() {
    const { scroller } = this;
    if (Math.abs(scroller.scrollTop - this.expected) > 1) {
      this.expected = scroller.scrollTop;
      this.hold();
      this.refresh();
    }
  }

  /** Makes the row at the top of the viewport the anchor. */
  hold() {
    const { scroller, window: { heights } } = this;
    this.pinned = this.atEnd();
    const n = heights.at(scroller.scrollTop);
    this.anchor = { n, offset: scroller.scrollTop - heights.top(n) };
  }

  atEnd() {
    const { scroller } = this;
    return scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - AT_END;
  }

  place() {
    const { scroller, anchor } = this;
    const wanted = this.pinned ? scroller.scrollHeight - scroller.clientHeight : this.window.heights.top(anchor.n) + anchor.offset;
    if (Math.abs(scroller.scrollTop - wanted) > 0.5) scroller.scrollTop = wanted;
    this.expected = scroller.scrollTop;
  }

  toEnd() {
    this.moves.begin();
    this.pinned = true;
    this.draw();
    this.scroller.focus({ preventScroll: true });
  }

  toStart() {
    this.moves.begin();
    this.pinned = false;
    this.anchor = { n: 1, offset: 0 };
    this.draw();
  }

  /**
   * Brings a row into sight. The row takes the focus, unless the focus went to another part of the page meanwhile.
   * @param {number} n
   * @param {{ open?: boolean, flash?: boolean, from?: Element | null }} [how] `from`: what had the focus when this was asked for
   */
  async goTo(n, how = {}) {
    const { rows } = this, isLast = this.moves.begin(), from = how.from ?? document.activeElement;
    if (!rows || n < 1 || n > rows.count) return;
    this.pinned = false;
    this.anchor = { n, offset: -Math.round(this.scroller.clientHeight * 0.2) };
    this.draw();
    for (let tries = 0; tries < 12 && isLast() && !rows.get(n); tries++) await this.loader.load(n);
    const row = rows.get(n);
    if (!row || !isLast()) return;
    if (how.open) this.openRows.set(row.id, true);
    this.select(n, canMoveFocus(from, this.scroller));
    if (how.flash) this.window.shown.get(n)?.element.classList.add("hit-target");
  }

  /** Makes a row the current one: keys are about it. @param {number} n @param {boolean} [focus] */
  select(n, focus = true) {
    const { rows, window: { heights } } = this;
    if (!rows?.count) return;
    n = Math.min(Math.max(n, 1), rows.count);
    this.window.mark(n);
    const top = heights.top(n), bottom = top + (heights.each[n] ?? GUESS), { scroller } = this;
    if (top < scroller.scrollTop + 8 || bottom > scroller.scrollTop + scroller.clientHeight - 40) {
      const tall = bottom - top > scroller.clientHeight * 0.7;
      const offset = top < scroller.scrollTop + 8 || tall ? -12 : bottom - top - scroller.clientHeight + 48;
      this.pinned = false;
      this.anchor = { n, offset };
    }
    this.draw();
    const element = this.window.shown.get(n)?.element;
    if (focus && element) {
      const head = element.querySelector("summary.v-head");
      /** @type {HTMLElement} */ (head ?? element).focus({ preventScroll: true });
    }
  }

  /** The row that keys are about: the current one if it can be seen, else 0. */
  here() {
    const { scroller, window: { heights, current } } = this, top = heights.top(current);
    const visible = current > 0 && top + (heights.each[current] ?? 0) > scroller.scrollTop && top < scroller.scrollTop + scroller.clientHeight;
    return visible ? current : 0;
  }

  /** @param {number} way */
  step(way) {
    this.moves.begin();
    const here = this.here();
    if (here) this.select(here + way);
    else this.select(this.pinned ? this.rows?.count ?? 1 : this.window.heights.at(this.scroller.scrollTop + 20));
  }

  // drawing

  draw() {
    const { rows, scroller, window: { heights } } = this;
    if (!rows || !scroller.clientHeight) return; // hidden rows cannot be measured; they are drawn when they are visible
    heights.resize(rows.count);
    let first = 1, last = 0;
    for (let tries = 0; tries < 5; tries++) { // measured heights differ from guessed ones, so other rows may come into sight
      const start = this.pinned ? heights.total - this.viewport : heights.top(this.anchor.n) + this.anchor.offset;
      first = rows.count ? heights.at(Math.max(start - OVERSCAN, 0)) : 1;
      last = rows.count ? heights.at(start + this.viewport + OVERSCAN) : 0;
      this.window.keep(first, last);
      if (!this.window.measure()) break;
    }
    this.window.pad(first, last);
    this.place();
    if (this.pinned) this.seen = rows.count;
    this.tell();
    if (rows.count) this.loader.loadNear(heights.at(scroller.scrollTop), heights.at(scroller.scrollTop + scroller.clientHeight));
  }

  tell() {
    const { rows } = this, fresh = (rows?.count ?? 0) - this.seen, [first, last] = this.window.range;
    byId("latest").hidden = this.pinned || this.atEnd();
    byId("latest-word").textContent = fresh > 0 ? `${fresh} new, jump to latest` : "Jump to latest";
    byId("count").textContent = rows?.count ? `${rows.count} ${rows.count === 1 ? "row" : "rows"}` : "";
    this.scroller.dataset.first = String(first);
    this.scroller.dataset.last = String(last);
  }

  // hands

  /** @param {Event} event */
  rowOf(event) {
    const element = event.target instanceof Element ? event.target.closest(".entry") : null;
    return this.rows?.get(Number(/** @type {HTMLElement | null} */ (element)?.dataset.n)) ?? null;
  }

  /** @param {Event} event */
  toggled(event) {
    const row = this.rowOf(event), details = event.target;
    if (!row || !(details instanceof HTMLDetailsElement) || !details.classList.contains("v-details")) return;
    if (!this.window.toggled(row.n, details.open)) return;
    if (details.open) fillBody(details, row, this.conversation);
    this.hold();
    this.pinned = false;
    this.draw();
    this.hold();
  }

  /** Opens the current row or closes it. */
  toggle() {
    const row = this.rows?.get(this.here());
    if (!row) return;
    this.moves.begin();
    this.openRows.set(row.id, !this.openRows.isOpen(row.id));
    this.hold();
    this.pinned = false;
    this.draw();
    this.select(row.n);
    say(this.openRows.isOpen(row.id) ? "expanded" : "collapsed");
  }

  toggleAll() {
    this.openRows.setAll(!this.openRows.all);
    this.draw();
  }

  copy() {
    const row = this.rows?.get(this.here());
    if (row) copySource(this.conversation, row.id);
  }

  /** @param {Event} event */
  focused(event) {
    const row = this.rowOf(event);
    if (row && row.n !== this.window.current) this.window.mark(row.n);
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const row = this.rowOf(event);
    if (row && !clickedIn(event, row, this.conversation, (n) => this.goTo(n))) this.focused(event);
  }
}
