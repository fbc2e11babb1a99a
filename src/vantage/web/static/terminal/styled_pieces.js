// A row of the screen, in pieces that look alike: its text comes as characters, its styles as cells.
import { WIDE, ZERO } from "./character_widths.js";

/** @typedef {import("../parts/colors.js").Style} Style */

/** @param {string} list @returns {number[]} */
const bounds = (list) => list.split(/[\s-]+/).filter(Boolean).map((part) => parseInt(part, 16));
const wide = bounds(WIDE), zero = bounds(ZERO);

/** @param {number[]} pairs first and last of each range @param {number} value */
function within(pairs, value) {
  let low = 0, high = pairs.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (pairs[2 * middle]) <= value) low = middle + 1; else high = middle;
  }
  return low > 0 && value <= /** @type {number} */ (pairs[2 * low - 1]);
}

/** How many cells a character takes: 0, 1 or 2. @param {number} point */
export function cellsOf(point) {
  if (point < 0xa0) return 1;
  return within(zero, point) ? 0 : within(wide, point) ? 2 : 1;
}

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * A row in pieces that look alike; a wide character is a piece by itself.
 * @template {Style & { start: number, len: number, link?: string | null }} R
 * @param {string} text
 * @param {R[]} runs
 * @returns {{ start: number, cells: number, text: string, run: R | null }[]}
 */
export function pieces(text, runs) {
  if (!runs.length && PLAIN.test(text)) return text ? [{ start: 0, cells: text.length, text, run: null }] : [];
  const made = [];
  let at = 0, index = 0;
  /** @type {{ start: number, cells: number, text: string, run: R | null } | null} */
  let open = null;
  for (const character of text) {
    const width = cellsOf(character.codePointAt(0) ?? 0);
    if (!width) { // a mark on what stands before it
      const target = open ?? made[made.length - 1];
      if (target) target.text += character;
      continue;
    }
    let run = runs[index];
    while (run && at >= run.start + run.len) run = runs[++index];
    const here = run && at >= run.start ? run : null;
    if (!open || open.run !== here || width === 2) {
      open = { start: at, cells: 0, text: "", run: here };
      made.push(open);
    }
    open.text += character;
    open.cells += width;
    at += width;
    if (width === 2) open = null;
  }
  for (; index < runs.length; index++) { // style behind the text: blanks with a background
    const run = /** @type {R} */ (runs[index]), first = Math.max(run.start, at), cells = run.start + run.len - first;
    if (cells > 0) made.push({ start: first, cells, text: " ".repeat(cells), run });
  }
  return made;
}
