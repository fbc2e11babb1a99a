// Messages to the person at the page: heard from a screen reader, or seen for some seconds.
import { byId } from "./dom.js";

/** Says a change to screen readers. @param {string} words */
export function say(words) {
  byId("said").textContent = words;
}

let noticeTimer = 0;

/** Shows a message for some seconds. @param {string} words */
export function notice(words) {
  const place = byId("notice");
  place.textContent = words;
  place.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => { place.hidden = true; }, 6000);
}

/** What an error says. @param {unknown} error */
export const wordsOf = (error) => error instanceof Error ? error.message : String(error);
