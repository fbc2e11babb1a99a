// Places on a scale of sorted marks. Recordings take this module in as it is, so it imports nothing.

/**
 * The last of a sorted list that is not above a value, or -1.
 * @param {number[]} list
 * @param {number} value
 */
export function last(list, value) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {number} */ (list[middle]) <= value) low = middle + 1; else high = middle;
  }
  return low - 1;
}

/**
 * A value of one scale on another that has the same marks.
 * @param {number[]} from
 * @param {number[]} to
 * @param {number} value
 */
export function between(from, to, value) {
  const n = Math.min(Math.max(last(from, value), 0), from.length - 1);
  const a = from[n] ?? 0, b = from[n + 1] ?? a, c = to[n] ?? 0, d = to[n + 1] ?? c;
  return b === a ? c : c + Math.max(value - a, 0) * (d - c) / (b - a);
}
