// The rows of one conversation: by their place, whole or with gaps that are filled when somebody looks.

/** @typedef {import("../types.d.ts").DrawnRow} DrawnRow */

/**
 * @typedef {object} Row
 * @property {number} n its place, from 1
 * @property {string} id
 * @property {number} seq
 * @property {number} begin
 * @property {import("../types.d.ts").Outline} outline
 * @property {string} html
 * @property {number} width that it was drawn for
 */

/** Rows are numbered in the order in which they began: `r17` is the seventeenth. @param {string} id */
export const placeOf = (id) => Number(id.slice(1));

const MOST_KEPT = 4000;
const TAIL = 200; // the end is always at hand

export class Rows {
  constructor() {
    this.epoch = "";
    /** The last event of which everything is known. */
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
   * A row, new or anew. What is known already in a later version stays.
   * @param {DrawnRow} drawn
   * @param {number} width
   * @returns {number} its place; 0 when nothing changed
   */
  put(drawn, width) {
    const n = placeOf(drawn.row.id), known = this.byPlace.get(n);
    this.seq = Math.max(this.seq, drawn.seq);
    if (known && (known.seq > drawn.seq || (known.html === drawn.html && known.seq === drawn.seq && known.width === width))) return 0;
    this.byPlace.set(n, { n, id: drawn.row.id, seq: drawn.seq, begin: drawn.row.begin, outline: drawn.row, html: drawn.html, width });
    this.count = Math.max(this.count, n);
    return n;
  }

  /**
   * Where to look for a row that is not here: rows that began before the answer are the ones around it, unless others
   * are; then what is known after the answer leads closer.
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
   * Lets go of rows that are far from those that are looked at: they come again when somebody looks.
   * @param {number} first
   * @param {number} last
   */
  forgetBeyond(first, last) {
    if (this.byPlace.size <= MOST_KEPT) return;
    for (const n of this.byPlace.keys()) {
      if ((n < first - MOST_KEPT / 4 || n > last + MOST_KEPT / 4) && n <= this.count - TAIL) this.byPlace.delete(n);
    }
  }

  /** Forgets everything. @param {string} epoch */
  clear(epoch) {
    this.epoch = epoch;
    this.seq = this.count = 0;
    this.byPlace.clear();
  }
}
