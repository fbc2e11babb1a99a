// How times, durations and outcomes are said; places on a scale. Recordings take this module in as it is, so it imports
// nothing.

/** @param {number} ms @returns {string} 0:07, 1:02:03 */
export function clock(ms) {
  const seconds = Math.floor(Math.max(ms, 0) / 1000), minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** @param {number} ms @returns {string} 340 ms, 2.5 s, 3 min 4 s */
export function lasting(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60000);
  return minutes < 60 ? `${minutes} min ${Math.round(ms % 60000 / 1000)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * How a command ended: a class, and what is said.
 * @param {{ because?: string | null, exit?: number | null }} block
 * @returns {[string, string]}
 */
export function outcome({ because, exit }) {
  if (because === null || because === undefined) return ["other", "running"];
  if (because !== "mark" && because !== "exit") return ["other", because];
  if (exit === null || exit === undefined) return ["other", "ended"];
  return exit === 0 ? ["good", "✓"] : ["bad", `exit ${exit}`];
}

/** A command on one line. @param {string} command */
export function oneLine(command) {
  return command.trim().replace(/\s*\n\s*/g, " ⏎ ") || "(nothing)";
}

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
