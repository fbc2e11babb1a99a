// Shows the state of the link to the server, as a glyph and in words.
import { byId } from "../parts/dom.js";

/** @typedef {import("../../types.d.ts").LinkState} LinkState */

/** @type {Record<LinkState["name"], [string, string]>} */
const WORDS = {
  live: ["●", "live"],
  connecting: ["◌", "connecting"],
  waiting: ["○", "connecting"],
  offline: ["○", "offline"],
  denied: ["✗", "not logged in"],
};

let countdown = 0;

/** @param {LinkState} state */
export function sayLink({ name, retryAt = 0 }) {
  clearInterval(countdown);
  const place = byId("link"), glyph = place.querySelector(".glyph");
  place.dataset.state = name;
  if (glyph) glyph.textContent = WORDS[name][0];
  const say = () => {
    const left = Math.ceil((retryAt - Date.now()) / 1000);
    byId("link-word").textContent = name === "waiting" && left > 0 ? `again in ${left} s` : WORDS[name][1];
  };
  say();
  if (name === "waiting") countdown = setInterval(say, 500);
  byId("link-now").hidden = name !== "waiting";
}
