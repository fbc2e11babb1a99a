// The rows of one conversation, by their place. Rows that are missing are fetched when they come into sight.

/** @typedef {import("../../types.d.ts").DrawnRow} DrawnRow */

/**
 * @typedef {object} Row
 * @property {number} n its place, from 1
 * @property {string} id
 * @property {number} seq
 * @property {number} begin
 * @property {import("../../types.d.ts").Outline} outline
 * @property {string} html
 * @property {number} width that it was drawn for; 0 when it may be out of date
 */

/** Rows are numbered in the order in which they began: `r17` is the seventeenth. @param {string} id */
export const placeOf = (id) => Number(id.slice(1));

const MAX_KEPT = 4000;
const TAIL = 200; // rows at the end, which are never forgotten

export class Rows {
  constructor() {
    /** The epoch of the log; empty until the first snapshot. After it, every change up to `seq` is known. */
    this.epoch = "";
    /** The epoch of the rows here; an answer may bring rows before the snapshot does. */
    this.source = "";
    /** The last event up to which every change is known. */
    this.seq = 0;
    /** How many rows there are, here or not. */
    this.count = 0;
    /** @type {Map<number, Row>} */
    this.byPlace = new Map();
  }

  /** @param {number} n */
  get(n) {
    return this.byPlace.get(n);
  }

  /**
   * Adds a row, or replaces an older version of it.
   * @param {DrawnRow} drawn
   * @param {number} width
   * @returns {number} its place; 0 when nothing changed
   */
  put(drawn, width) {
    const n = placeOf(drawn.row.id), known = this.byPlace.get(n);
    if (known && known.seq > drawn.seq) return 0;
    if (known?.html === drawn.html && known.seq === drawn.seq) {
      known.width = width;
      return 0;
    }
    this.byPlace.set(n, { n, id: drawn.row.id, seq: drawn.seq, begin: drawn.row.begin, outline: drawn.row, html: drawn.html, width });
    this.count = Math.max(this.count, n);
    return n;
  }

  /**
   * A row that the subscription brought. Only these, and the snapshot, move `seq`: an answer to a question holds some
   * rows as they are now, and changes of others before them may still be on their way.
   * @param {DrawnRow} drawn
   * @param {number} width
   * @returns {number} its place; 0 when nothing changed
   */
  hear(drawn, width) {
    this.seq = Math.max(this.seq, drawn.seq);
    return this.put(drawn, width);
  }

  /**
   * Adds the rows of an answer. Rows of another log are left out: their numbers mean something else.
   * @param {{ epoch: string, rows: DrawnRow[] }} answer
   * @param {number} width
   * @returns {number} how many changed something
   */
  take(answer, width) {
    if (this.source && this.source !== answer.epoch) return 0;
    this.source = answer.epoch;
    return answer.rows.filter((drawn) => this.put(drawn, width)).length;
  }

  /**
   * Adds the rows of a snapshot, which holds the last ones. Other rows here may be out of date: their width becomes 0, so
   * they are fetched again when they come into sight.
   * @param {{ epoch: string, seq: number, rows: DrawnRow[] }} snapshot
   * @param {number} width
   */
  takeSnapshot(snapshot, width) {
    const told = new Set(snapshot.rows.map((drawn) => placeOf(drawn.row.id)));
    for (const row of this.byPlace.values()) if (!told.has(row.n)) row.width = 0;
    this.take(snapshot, width);
    this.epoch = snapshot.epoch;
    this.seq = Math.max(this.seq, snapshot.seq);
  }

  /**
   * Before which event to ask for a row that is not here, guessed from the known rows around it. A wrong guess brings
   * rows that make the next guess better.
   * @param {number} n
   * @param {number} page how many rows come at once
   */
  whereIs(n, page) {
    let low = n, high = n;
    while (low > 0 && !this.byPlace.has(low)) low -= 1;
    while (high <= this.count && !this.byPlace.has(high)) high += 1;
    const from = this.byPlace.get(low)?.begin ?? 0;
    const to = this.byPlace.get(high)?.begin ?? this.seq + 1;
    if (high - low - 1 <= page) return to;
    if (low === 0 && n <= page / 2) return Math.min(page + 1, to); // every row takes an event of its own
    const share = (Math.min(n + page / 2, high) - low) / (high - low);
    return Math.min(Math.max(Math.round(from + (to - from) * share), from + 2), to);
  }

  /**
   * Forgets rows far from those in sight; they are fetched again when they come into sight.
   * @param {number} first
   * @param {number} last
   */
  forgetBeyond(first, last) {
    if (this.byPlace.size <= MAX_KEPT) return;
    for (const n of this.byPlace.keys()) {
      if ((n < first - MAX_KEPT / 4 || n > last + MAX_KEPT / 4) && n <= this.count - TAIL) this.byPlace.delete(n);
    }
  }

  /** Forgets everything. */
  clear() {
    this.epoch = this.source = "";
    this.seq = this.count = 0;
    this.byPlace.clear();
  }
}
