// Moments of the past as people say them.

const day = new Intl.DateTimeFormat([], { weekday: "long", day: "numeric", month: "long" });
const dayAndYear = new Intl.DateTimeFormat([], { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const date = new Intl.DateTimeFormat([], { dateStyle: "medium" });
const hour = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const whole = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "medium" });
const ago = new Intl.RelativeTimeFormat([], { numeric: "auto", style: "narrow" });

/** @param {number} ts */
export const timeOfDay = (ts) => hour.format(ts);
/** @type {Map<number, string>} */
const days = new Map();

/** @param {number} ts */
export function dayOf(ts) {
  const number = Math.floor(ts / 900000); // days begin at whole quarters of an hour, wherever one is
  let words = days.get(number);
  if (words === undefined) days.set(number, words = (new Date(ts).getFullYear() === new Date().getFullYear() ? day : dayAndYear).format(ts));
  return words;
}

/** @param {number} ts */
export const fullTime = (ts) => whole.format(ts);
/** @param {number} ts */
export const dateOf = (ts) => date.format(ts);

const LONG_AGO = 14 * 86400000; // from then on a date is shown
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [["day", 86400000], ["hour", 3600000], ["minute", 60000]];

/** @param {number} ts */
export function sinceThen(ts) {
  const passed = Date.now() - ts;
  if (passed >= LONG_AGO) return date.format(ts);
  for (const [unit, ms] of UNITS) if (passed >= ms) return ago.format(-Math.floor(passed / ms), unit);
  return "just now";
}
