// The timeline: any number of rows, of which only those near the viewport are in the page.
//
// Every row has a place and a height, measured or guessed. The row at the top of the viewport is the anchor: it stays where
// it is, whatever is drawn above it. At the end of the timeline, the end is the anchor (`pinned`).
import { Latest } from "../parts/async_order.js";
import { copyText } from "../parts/clipboard.js";
import { dayOf, fullTime, timeOfDay } from "../parts/dates.js";
import { byId, h, icon } from "../parts/dom.js";
import { canMoveFocus } from "../parts/focus.js";
import { say } from "../parts/messages.js";
import { waitsForRelease } from "../parts/press.js";
import { api } from "../connection/api.js";
import { OpenRows } from "./open_rows.js";
import { Heights } from "./row_heights.js";
import { entryBody, entryMarkup, finish } from "./row_markup.js";
import { copySource } from "./row_source.js";

/** @typedef {import("./rows.js").Rows} Rows @typedef {import("./rows.js").Row} Row */

const OVERSCAN = 500; // px above and below the viewport
const GUESS = 34;
const PAGE = 100;
const AT_END = 6; // px
const SCROLL_KEYS = new Set(["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", " "]);

/** @typedef {{ n: number, element: HTMLElement, row: Row | null, open: boolean, lead: string }} Shown */

export class Timeline {
  /** @param {HTMLElement} scroller @param {import("./request_cards.js").RequestCards} cards */
  constructor(scroller, cards) {
    this.scroller = scroller;
    this.cards = cards;
    this.before = h("div");
    this.after = h("div");
    this.list = h("div.entries", null, this.before, this.after, h("div.entries-end"));
    scroller.append(this.list);
    /** @type {Rows | null} */
    this.rows = null;
    this.conversation = "";
    this.width = 80;
    this.heights = new Heights(GUESS);
    this.openRows = new OpenRows("");
    /** @type {Map<number, Shown>} */
    this.shown = new Map();
    this.anchor = { n: 1, offset: 0 };
    this.pinned = true;
    this.expected = 0;
    this.current = 0;
    this.seen = 0; // number of rows when the end was last in sight
    /** Every move to another place; one that waits for rows ends when a later one begins. */
    this.moves = new Latest();
    /** The conversation's rows of which some are being fetched. @type {Rows | null} */
    this.loading = null;
    this.frame = 0;
    this.viewport = 0;
    /** @type {Set<Shown>} */
    this.unmeasured = new Set();
    this.observer = new ResizeObserver((changes) => this.resized(changes));
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    for (const name of ["wheel", "touchmove", "pointerdown"]) scroller.addEventListener(name, () => this.moves.begin(), { passive: true });
    scroller.addEventListener("keydown", (event) => { if (SCROLL_KEYS.has(event.key)) this.moves.begin(); });
    scroller.addEventListener("click", (event) => this.clicked(event));
    scroller.addEventListener("toggle", (event) => this.toggled(event), true);
    scroller.addEventListener("pointerover", (event) => this.pointed(event), { passive: true });
    scroller.addEventListener("focusin", (event) => this.focused(event));
    new ResizeObserver(() => {
      this.viewport = scroller.clientHeight;
      this.refresh();
    }).observe(scroller);
    byId("latest").addEventListener("click", () => this.toEnd());
  }

  /** Shows a conversation, from its end. @param {string} id @param {Rows} rows */
  open(id, rows) {
    for (const each of this.shown.values()) each.element.remove();
    this.observer.disconnect();
    this.shown.clear();
    this.unmeasured.clear();
    this.conversation = id;
    if (rows !== this.rows) this.cards.open(id);
    this.rows = rows;
    this.heights = new Heights(GUESS);
    this.openRows = new OpenRows(id);
    this.anchor = { n: 1, offset: 0 };
    this.pinned = true;
    this.current = this.seen = 0;
    this.loading = null;
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
    const { scroller, heights } = this;
    this.pinned = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - AT_END;
    const n = heights.at(scroller.scrollTop);
    this.anchor = { n, offset: scroller.scrollTop - heights.top(n) };
  }

  place() {
    const { scroller, anchor } = this;
    const wanted = this.pinned ? scroller.scrollHeight - scroller.clientHeight : this.heights.top(anchor.n) + anchor.offset;
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
    for (let tries = 0; tries < 12 && isLast() && !rows.get(n); tries++) await this.load(n);
    const row = rows.get(n);
    if (!row || !isLast()) return;
    if (how.open) this.openRows.set(row.id, true);
    this.select(n, canMoveFocus(from, this.scroller));
    if (how.flash) this.shown.get(n)?.element.classList.add("hit-target");
  }

  /** Makes a row the current one: keys are about it. @param {number} n @param {boolean} [focus] */
  select(n, focus = true) {
    const { rows } = this;
    if (!rows?.count) return;
    n = Math.min(Math.max(n, 1), rows.count);
    this.shown.get(this.current)?.element.removeAttribute("aria-current");
    this.current = n;
    const top = this.heights.top(n), bottom = top + (this.heights.each[n] ?? GUESS), { scroller } = this;
    if (top < scroller.scrollTop + 8 || bottom > scroller.scrollTop + scroller.clientHeight - 40) {
      const tall = bottom - top > scroller.clientHeight * 0.7;
      const offset = top < scroller.scrollTop + 8 || tall ? -12 : bottom - top - scroller.clientHeight + 48;
      this.pinned = false;
      this.anchor = { n, offset };
    }
    this.draw();
    const element = this.shown.get(n)?.element;
    element?.setAttribute("aria-current", "true");
    if (focus && element) {
      const head = element.querySelector("summary.v-head");
      /** @type {HTMLElement} */ (head ?? element).focus({ preventScroll: true });
    }
  }

  /** The row that keys are about: the current one if it can be seen, else the first that can. */
  here() {
    const { scroller, heights } = this, top = heights.top(this.current);
    const visible = this.current > 0 && top + (heights.each[this.current] ?? 0) > scroller.scrollTop && top < scroller.scrollTop + scroller.clientHeight;
    return visible ? this.current : 0;
  }

  /** @param {number} way */
  step(way) {
    this.moves.begin();
    const here = this.here();
    if (here) this.select(here + way);
    else this.select(this.pinned ? this.rows?.count ?? 1 : this.heights.at(this.scroller.scrollTop + 20));
  }

  // drawing

  draw() {
    const { rows, scroller, heights } = this;
    if (!rows || !scroller.clientHeight) return; // hidden rows cannot be measured; they are drawn when they are visible
    heights.resize(rows.count);
    let first = 1, last = 0;
    for (let tries = 0; tries < 5; tries++) { // measured heights differ from guessed ones, so other rows may come into sight
      const start = this.pinned ? heights.total - this.viewport : heights.top(this.anchor.n) + this.anchor.offset;
      first = rows.count ? heights.at(Math.max(start - OVERSCAN, 0)) : 1;
      last = rows.count ? heights.at(start + this.viewport + OVERSCAN) : 0;
      this.keep(first, last);
      if (!this.unmeasured.size) break;
      this.measure();
    }
    this.pad(first, last);
    this.place();
    if (this.pinned) this.seen = rows.count;
    this.tell();
    this.loadVisible();
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

  measure() {
    for (const each of this.unmeasured) this.heights.set(each.n, each.element.getBoundingClientRect().height);
    this.unmeasured.clear();
  }

  /** Something is higher or lower than it was. @param {ResizeObserverEntry[]} changes */
  resized(changes) {
    let moved = false;
    if (!this.scroller.clientHeight) return;
    for (const { target, borderBoxSize } of changes) {
      const n = Number(/** @type {HTMLElement} */ (target).dataset.n), height = borderBoxSize[0]?.blockSize ?? 0;
      if (this.shown.get(n)?.element === target && Math.abs(this.heights.set(n, height)) > 0.01) moved = true;
    }
    if (moved) this.refresh();
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
    const lead = row ? this.lead(row) : "";
    if (known && known.row === row && known.open === open && known.lead === lead) return known.element;
    if (known && row && known.row && this.inUse(known)) return known.element; // it is replaced later
    const element = row ? this.made(row, open) : h("div.entry", { "data-n": n }, h("div.entry-wait"));
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

  /** What stands above a row: the day, when it is another one; the agent, when it is another. @param {Row} row */
  lead(row) {
    const before = this.rows?.get(row.n - 1), { agent, depth } = row.outline, ts = began(row), earlier = before ? began(before) : 0;
    const day = ts && (row.n === 1 || (earlier && dayOf(earlier) !== dayOf(ts))) ? dayOf(ts) : "";
    const other = depth > 0 && before && (before.outline.agent ?? "") !== (agent ?? "") ? agent || "sub-agent" : "";
    return `${day}\n${other}`;
  }

  /** @param {Row} row @param {boolean} open */
  made(row, open) {
    const ts = began(row);
    const [day, agent] = this.lead(row).split("\n");
    const element = h(`div.entry.of-${row.outline.kind}`, { "data-n": row.n, tabindex: -1 },
      day ? h("div.entry-day", null, day) : null,
      agent ? h("div.entry-agent", { "data-depth": row.outline.depth }, agent) : null,
      ts ? h("a.entry-when", { href: this.address(row), title: `${fullTime(ts)} · link to this row` }, timeOfDay(ts)) : h("span.entry-when"),
      entryMarkup(row, this.conversation),
      h("div.entry-tools", null, h("button", { type: "button", "data-copy": "row", title: "Copy (c)", "aria-label": "Copy this row" }, icon("copy"))),
    );
    const details = element.querySelector("details.v-details");
    if (details instanceof HTMLDetailsElement && open) {
      this.fill(details, row);
      details.open = true;
    }
    if (!details) finish(element);
    if (row.outline.request) this.cards.fill(element, row.outline.request);
    return element;
  }

  /** @param {Row} row */
  address(row) {
    return `#c=${encodeURIComponent(this.conversation)}&seq=${row.begin}`;
  }

  /** Draws what is inside a row that is open. @param {HTMLDetailsElement} details @param {Row} row */
  fill(details, row) {
    const body = details.querySelector(".v-body");
    if (body && !body.hasChildNodes()) {
      body.append(entryBody(row, this.conversation));
      finish(details);
    }
  }

  /** Whether a person selects text of a row, holds it down, or has opened or closed it and the event is on its way. @param {Shown} shown */
  inUse({ element, open }) {
    const selection = getSelection(), details = element.querySelector("details.v-details");
    return (selection !== null && !selection.isCollapsed && element.contains(selection.anchorNode)) ||
      (details instanceof HTMLDetailsElement && details.open !== open) || waitsForRelease(element, () => this.refresh());
  }

  tell() {
    const { rows } = this, fresh = (rows?.count ?? 0) - this.seen;
    const atEnd = this.pinned || this.scroller.scrollTop + this.scroller.clientHeight >= this.scroller.scrollHeight - AT_END;
    byId("latest").hidden = atEnd;
    byId("latest-word").textContent = fresh > 0 ? `${fresh} new, jump to latest` : "Jump to latest";
    byId("count").textContent = rows?.count ? `${rows.count} ${rows.count === 1 ? "row" : "rows"}` : "";
    this.scroller.dataset.first = String(Math.min(...this.shown.keys()));
    this.scroller.dataset.last = String(Math.max(...this.shown.keys()));
  }

  // what is not here yet

  loadVisible() {
    const { rows, scroller, heights } = this;
    if (!rows?.count || this.loading === rows) return;
    const first = heights.at(scroller.scrollTop), last = heights.at(scroller.scrollTop + scroller.clientHeight);
    const order = [];
    for (let n = first; n <= last; n++) order.push(n);
    for (let n = 1; n <= 30; n++) order.push(first - n, last + n);
    const missing = order.find((n) => n >= 1 && n <= rows.count && rows.get(n)?.width !== this.width);
    if (missing) this.load(missing);
  }

  /** Fetches a row and those around it. @param {number} n */
  async load(n) {
    const { rows, conversation, width } = this;
    if (!rows) return false;
    let loaded = true;
    this.loading = rows;
    try {
      const stale = rows.get(n), before = stale ? (rows.get(Math.min(n + PAGE / 2, rows.count))?.begin ?? stale.begin) + 1 : rows.whereIs(n, PAGE);
      let answer = await api.rows(conversation, before, PAGE, width);
      const fresh = rows.take(answer, width);
      if (!fresh && !stale) { // the guess brought known rows only: asks from the next known row
        let known = n;
        while (known <= rows.count && !rows.get(known)) known += 1;
        answer = await api.rows(conversation, rows.get(known)?.begin ?? rows.seq + 1, PAGE, width);
        rows.take(answer, width);
      }
    } catch {
      loaded = false;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    } finally {
      if (this.loading === rows) this.loading = null;
    }
    if (rows !== this.rows) return false;
    rows.forgetBeyond(Math.min(...this.shown.keys()), Math.max(...this.shown.keys()));
    this.refresh();
    return loaded;
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
    const shown = this.shown.get(row.n);
    if (!shown || shown.open === details.open) return;
    this.openRows.set(row.id, details.open);
    shown.open = details.open;
    this.unmeasured.add(shown);
    if (details.open) this.fill(details, row);
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

  /** @param {FocusEvent} event */
  focused(event) {
    const row = this.rowOf(event);
    if (!row || row.n === this.current) return;
    this.shown.get(this.current)?.element.removeAttribute("aria-current");
    this.current = row.n;
    this.shown.get(row.n)?.element.setAttribute("aria-current", "true");
  }

  /** A title that is cut has the whole text as its tooltip. @param {PointerEvent} event */
  pointed(event) {
    const head = event.target instanceof Element ? event.target.closest("summary.v-head") : null, title = head?.querySelector(".v-title");
    if (!head || !title) return;
    const cut = title.scrollHeight > title.clientHeight + 2 || title.scrollWidth > title.clientWidth + 2;
    if (cut) head.setAttribute("title", title.textContent ?? "");
    else head.removeAttribute("title");
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const row = this.rowOf(event), target = event.target instanceof Element ? event.target : null;
    if (!row || !target) return;
    const copy = /** @type {HTMLElement | null} */ (target.closest("[data-copy]"));
    const action = /** @type {HTMLElement | null} */ (target.closest("[data-action]"));
    const inside = target.closest("a.v-link[href^='#']");
    if (copy?.dataset.copy === "row") copySource(this.conversation, row.id);
    else if (copy?.dataset.copy === "code") copyText(copy.closest(".v-code")?.querySelector("code")?.cloneNode(true) ?? null);
    else if (copy) copySource(this.conversation, row.id, copy.dataset.copy);
    else if (action?.dataset.action === "copy") copyText(action.dataset.value ?? "");
    else if (action?.dataset.action === "goto") this.goTo(Number((action.dataset.value ?? "").replace(/^r/, "")));
    else if (inside) {
      event.preventDefault();
      document.getElementById(inside.getAttribute("href")?.slice(1) ?? "")?.scrollIntoView({ block: "nearest" });
    } else if (!target.closest("a, button")) this.focused(/** @type {any} */ (event));
  }
}

/** When a row began, as far as one knows: it carries the time of its last change. @param {Row} row */
export const began = (row) => (row.outline.ts ?? 0) - (row.outline.duration_ms ?? 0);

/** What a person had opened, scrolled or focused inside a row stays so when the row is drawn anew. @param {HTMLElement} from @param {HTMLElement} to */
function carryOver(from, to) {
  const nested = (/** @type {HTMLElement} */ element) => /** @type {HTMLDetailsElement[]} */ ([...element.querySelectorAll("details:not(.v-details)")]);
  const fresh = nested(to);
  nested(from).forEach((each, index) => { if (each.open && fresh[index]) fresh[index].open = true; });
  const panes = [...to.querySelectorAll(".v-pre, .v-table-scroll")];
  const scrolled = [...from.querySelectorAll(".v-pre, .v-table-scroll")].map((each) => [each.scrollTop, each.scrollLeft, each.scrollHeight - each.clientHeight - each.scrollTop < 8 && each.scrollTop > 0]);
  if (from.contains(document.activeElement)) {
    queueMicrotask(() => /** @type {HTMLElement} */ (to.querySelector("summary.v-head") ?? to).focus({ preventScroll: true }));
  }
  requestAnimationFrame(() => panes.forEach((pane, index) => {
    const [top, left, end] = scrolled[index] ?? [];
    if (top === undefined) return;
    pane.scrollTop = end ? pane.scrollHeight : Number(top);
    pane.scrollLeft = Number(left);
  }));
}
