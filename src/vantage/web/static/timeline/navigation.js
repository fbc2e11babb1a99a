// Ways to a row: from an address, a search hit or a command. A later move in the timeline, a person's own scrolling
// included, ends an earlier one that is still waiting for an answer.
import { notice, wordsOf } from "../parts/messages.js";
import { api } from "../connection/api.js";
import { began } from "./row_element.js";
import { placeOf } from "./rows.js";

/** @typedef {import("./rows.js").Rows} Rows @typedef {import("../../types.d.ts").Block} Block */
/** @typedef {{ isLast: () => boolean, act: () => void, needsSnapshot: boolean }} Wanted */

const MAX_STEPS = 20; // of the search for a command's row

export class Navigation {
  /** @param {import("./timeline.js").Timeline} timeline @param {{ shown: () => { id: string, rows: Rows }, reveal: () => void }} hands */
  constructor(timeline, hands) {
    this.timeline = timeline;
    this.hands = hands;
    /** The move that is not done yet. @type {Wanted | null} */
    this.wanted = null;
  }

  /** Begins a move. @param {() => void} act @param {boolean} needsSnapshot */
  begin(act, needsSnapshot) {
    const isLast = this.timeline.moves.begin();
    this.wanted = { isLast, act, needsSnapshot };
    return isLast;
  }

  /** A conversation is opened: at its end, or at an event once its snapshot is here. @param {number | null} seq */
  open(seq) {
    if (seq === null) this.wanted = null;
    else this.begin(() => this.toSeq(seq), true);
  }

  /**
   * The move that a snapshot starts: one that waited for it, or one whose answer may be of another log.
   * @param {boolean} otherLog
   * @returns {(() => void) | null}
   */
  afterSnapshot(otherLog) {
    const { wanted } = this;
    return wanted?.isLast() && (wanted.needsSnapshot || otherLog) ? wanted.act : null;
  }

  /** Brings the row of an event into sight, before the snapshot too. @param {number} seq */
  async toSeq(seq) {
    const { timeline } = this, { id, rows } = this.hands.shown(), from = document.activeElement;
    const isLast = this.begin(() => this.toSeq(seq), false);
    this.hands.reveal();
    try {
      const answer = await api.rows(id, seq + 1, 1, timeline.width);
      if (!isLast()) return;
      const drawn = answer.rows[answer.rows.length - 1];
      if (!drawn) {
        notice("There is no such row.");
        return;
      }
      rows.take(answer, timeline.width);
      await timeline.goTo(placeOf(drawn.row.id), { open: true, flash: true, from });
    } catch (error) {
      if (isLast()) notice(wordsOf(error));
    }
  }

  /** Brings the row of a command into sight. @param {Block} block */
  async toOutput(block) {
    const { timeline } = this, { rows } = this.hands.shown(), from = document.activeElement;
    const isLast = this.begin(() => this.toOutput(block), !rows.epoch);
    if (!rows.epoch) return; // how many rows there are is not known yet
    const mark = `data-block-id="${block.block_id}"`;
    const of = () => [...rows.byPlace.values()].find((row) => row.outline.tool === "terminal" && row.html.includes(mark))?.n;
    let low = 1, high = rows.count, n = of();
    for (let tries = 0; n === undefined && low <= high && tries < MAX_STEPS; tries++) { // rows are in the order of time
      const middle = (low + high) >> 1;
      const known = rows.get(middle) ? true : await timeline.loader.load(middle);
      if (!isLast()) return;
      if (!known) continue; // the server could not be asked: the same row again
      const row = rows.get(middle);
      if (row && began(row) < block.ts_begin) low = middle + 1; else high = middle - 1;
      n = of();
    }
    if (n === undefined) {
      notice("The timeline has no row of this command.");
      return;
    }
    this.hands.reveal();
    await timeline.goTo(n, { open: true, flash: true, from });
  }
}
