// Writes characters into cells. Recordings take this module in as it is, so it imports nothing.

const CLUSTERS = /\u2588+|[\x20-\x7e\xa0-\u02ff\u2500-\u2587\u2589-\u259f]+|[^][\p{M}\u200d\ufe0e\ufe0f]*/gu;
const ODD = /[^\x20-\x7e\xa0-\u02ff\u2500-\u2587\u2589-\u259f]/u;

/**
 * Writes text into an element so that every character has its cell, whatever font has it.
 * @param {HTMLElement} element
 * @param {string} string
 * @param {boolean} [single] one character that fills the element
 */
export function write(element, string, single) {
  if (single || !ODD.test(string)) {
    element.textContent = string;
    return;
  }
  for (const [cluster] of string.matchAll(CLUSTERS)) {
    if (ODD.test(cluster)) {
      const full = cluster[0] === "\u2588"; // full blocks are drawn as ground: no seams in a bar of them
      const cell = document.createElement(full ? "b" : "i");
      cell.textContent = cluster;
      if (full) cell.style.width = `calc(var(--cw) * ${cluster.length})`;
      element.append(cell);
    } else element.append(cluster);
  }
}

/** Whether a piece is one character. @param {string} string */
export const isOne = (string) => [...string.replace(/[\p{M}\u200d\ufe0e\ufe0f]/gu, "")].length === 1;

/** Addresses that a link in a terminal may lead to. @param {string | null | undefined} link */
export const isSafe = (link) => /^(https?:\/\/|mailto:)/i.test(link ?? "");
