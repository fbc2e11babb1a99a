// The line between timeline and terminal: it can be moved, and its place is remembered.
import { byId } from "../parts/dom.js";

const KEY = "vantage-divider", LEAST = 24, MOST = 62, USUAL = 38; // percent that the terminal has
const STEP = 2;

export function startDivider() {
  const divider = byId("divider"), panes = byId("panes");
  const put = (/** @type {number} */ share) => {
    const rounded = Math.min(Math.max(Math.round(share), LEAST), MOST);
    panes.style.setProperty("--terminal", `${rounded}%`);
    divider.setAttribute("aria-valuenow", String(rounded));
    return rounded;
  };
  const keep = (/** @type {number} */ share) => localStorage.setItem(KEY, String(put(share)));
  const now = () => Number(divider.getAttribute("aria-valuenow"));
  divider.setAttribute("aria-valuemin", String(LEAST));
  divider.setAttribute("aria-valuemax", String(MOST));
  put(Number(localStorage.getItem(KEY)) || USUAL);
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  divider.addEventListener("pointermove", (event) => {
    if (!divider.hasPointerCapture(event.pointerId)) return;
    const box = panes.getBoundingClientRect();
    keep((box.right - event.clientX) / box.width * 100);
  });
  divider.addEventListener("dblclick", () => keep(USUAL));
  divider.addEventListener("keydown", (event) => {
    const way = event.key === "ArrowLeft" ? STEP : event.key === "ArrowRight" ? -STEP : 0;
    if (!way) return;
    event.preventDefault();
    keep(now() + way);
  });
}
