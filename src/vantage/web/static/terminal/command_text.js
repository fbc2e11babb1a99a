// A command as text: its line, its duration, its outcome. Recordings take this module in as it is, so it imports nothing.

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
