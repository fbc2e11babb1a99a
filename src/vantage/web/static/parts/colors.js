// The colours of cells: contrast, the palette of 256, a style as CSS. Recordings take this module in as it is, so it
// imports nothing.

/** @typedef {{ fg?: number | string | null, bg?: number | string | null, attrs?: string[] }} Style */

/** @param {string} color */
const channels = (color) => [1, 3, 5].map((n) => parseInt(color.slice(n, n + 2), 16));
/** @param {number[]} parts */
const hex = (parts) => "#" + parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");

/** @param {string} one @param {string} other @param {number} share of the other */
export function mix(one, other, share) {
  const b = channels(other);
  return hex(channels(one).map((part, n) => part + ((b[n] ?? 0) - part) * share));
}

/** @param {string} color */
function luminance(color) {
  const [r = 0, g = 0, b = 0] = channels(color).map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @param {string} one @param {string} other */
export function contrast(one, other) {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/**
 * A colour that meets a ground it was not made for: enough of a difference to read it.
 * @param {string} ink
 * @param {string} ground
 * @param {number} [enough]
 */
export function readable(ink, ground, enough = 3) {
  const goal = luminance(ground) > 0.3 ? "#000000" : "#ffffff";
  for (let share = 0; share <= 1; share += 0.1) {
    const color = mix(ink, goal, share);
    if (contrast(color, ground) >= enough) return color;
  }
  return goal;
}

const STEPS = [0, 95, 135, 175, 215, 255];

/** A colour of the palette behind the first sixteen, which are the theme's. @param {number} number */
export function paletteColor(number) {
  if (number >= 232) return hex(Array(3).fill(8 + 10 * (number - 232)));
  const index = number - 16;
  return hex([STEPS[Math.floor(index / 36)] ?? 0, STEPS[Math.floor(index / 6) % 6] ?? 0, STEPS[index % 6] ?? 0]);
}

/** @typedef {{ background: string, foreground: string, colors: string[] }} Theme */

/** The theme of the page, as colours of a terminal. @returns {Theme} */
export function themeOfPage() {
  const style = getComputedStyle(document.documentElement);
  const variable = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  return {
    background: variable("background"),
    foreground: variable("foreground"),
    colors: Array.from({ length: 16 }, (_, number) => variable(`c${number}`)),
  };
}

const LINES = [["underline", "underline"], ["strike", "line-through"], ["overline", "overline"]];
const KINDS = [["double", "double"], ["curly", "wavy"], ["dotted", "dotted"], ["dashed", "dashed"]];

/**
 * What a style sheet says of a style, with reversed and hidden text worked out.
 * @param {Style} style
 * @param {Theme} theme
 * @param {number} [enough] how much contrast text has at least, where the program did not choose both colours itself
 */
export function declarations(style, theme, enough = 3) {
  const has = new Set(style.attrs ?? []);
  const color = (/** @type {number | string} */ value) => typeof value === "string" ? value : value < 16 ? theme.colors[value] ?? theme.foreground : paletteColor(value);
  let ink = style.fg === null || style.fg === undefined ? theme.foreground : color(style.fg);
  let ground = style.bg === null || style.bg === undefined ? null : color(style.bg);
  if (has.has("reverse")) [ink, ground] = [ground ?? theme.background, ink];
  const own = typeof style.fg === "string" && typeof style.bg === "string";
  if (!own && ink !== ground) ink = readable(ink, ground ?? theme.background, enough);
  if (has.has("dim")) ink = mix(ink, ground ?? theme.background, 0.4);
  const lines = LINES.filter(([name]) => has.has(name ?? "")).map(([, css]) => css);
  const kind = KINDS.find(([name]) => has.has(name ?? ""));
  return `color:${has.has("hidden") ? "transparent" : ink};` +
    (ground ? `background:${ground};` : "") +
    (has.has("bold") ? "font-weight:700;" : "") + (has.has("italic") ? "font-style:italic;" : "") +
    (lines.length ? `text-decoration:${lines.join(" ")}${kind ? ` ${kind[1]}` : ""};` : "");
}
