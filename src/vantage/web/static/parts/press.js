// What the pointer holds down. A browser drops a click when the pressed element is replaced before the release, so a part
// of the page that is held down is drawn after the release.

const WITHOUT_CLICK = 100; // ms: a click comes some time after a finger is lifted, or not at all

/** @type {Element | null} */
let pressed = null;
let timer = 0;
/** What each part that waits does then. @type {Map<Element, () => void>} */
const waiting = new Map();

function release() {
  const acts = [...waiting.values()];
  pressed = null;
  waiting.clear();
  for (const act of acts) act();
}

/** @param {number} ms */
const releaseAfter = (ms) => {
  clearTimeout(timer);
  timer = setTimeout(release, ms);
};

addEventListener("pointerdown", (event) => {
  clearTimeout(timer);
  pressed = event.button === 0 && event.target instanceof Element ? event.target : null;
}, { capture: true, passive: true });
addEventListener("click", () => releaseAfter(0), { capture: true, passive: true }); // the listeners of the click run first
for (const name of ["pointerup", "pointercancel", "contextmenu"]) {
  addEventListener(name, () => releaseAfter(WITHOUT_CLICK), { capture: true, passive: true });
}
// The window's own, not that of a field which loses the focus because another element is pressed.
addEventListener("blur", (event) => { if (event.target === window) releaseAfter(WITHOUT_CLICK); }, { passive: true });

/**
 * Whether a part is held down. If it is, `act` is called after the release, once for each part.
 * @param {Element} part
 * @param {() => void} act
 */
export function waitsForRelease(part, act) {
  if (!pressed || !part.contains(pressed)) return false;
  waiting.set(part, act);
  return true;
}
