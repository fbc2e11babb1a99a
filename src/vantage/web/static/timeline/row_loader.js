// Fetches rows that are wanted and not here, a page at a time.
import { api } from "../connection/api.js";

/** @typedef {import("./rows.js").Rows} Rows @typedef {{ rows: Rows | null, conversation: string, width: number }} Wanted */

const PAGE = 100;
const AROUND = 30; // rows above and below the visible ones that are fetched too

export class RowLoader {
  /** @param {{ wanted: () => Wanted, came: (rows: Rows) => void }} hands */
  constructor(hands) {
    this.hands = hands;
    /** The conversation's rows of which some are being fetched. @type {Rows | null} */
    this.loading = null;
  }

  /** The nearest row to those in sight that is not here, or was drawn for another width. @param {number} first @param {number} last */
  loadNear(first, last) {
    const { rows, width } = this.hands.wanted();
    if (!rows?.count || this.loading === rows) return;
    const order = [];
    for (let n = first; n <= last; n++) order.push(n);
    for (let n = 1; n <= AROUND; n++) order.push(first - n, last + n);
    const missing = order.find((n) => n >= 1 && n <= rows.count && rows.get(n)?.width !== width);
    if (missing) this.load(missing);
  }

  /** Fetches a row and those around it. Returns whether the server answered. @param {number} n */
  async load(n) {
    const { rows, conversation, width } = this.hands.wanted();
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
    if (rows !== this.hands.wanted().rows) return false;
    this.hands.came(rows);
    return loaded;
  }
}
