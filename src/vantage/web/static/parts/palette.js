// The 256 colours of terminals for text in rows: classes v-fg-N and v-bg-N, readable on this theme.
import { contrast, paletteColor, readable, themeOfPage } from "./colors.js";

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
const ENOUGH = 4.5;

export function paintPalette() {
  const theme = themeOfPage(), rules = [];
  for (let number = 0; number < 256; number++) {
    const color = number < 16 ? theme.colors[number] ?? theme.foreground : paletteColor(number);
    const ink = contrast(theme.foreground, color) >= ENOUGH ? theme.foreground : readable(theme.background, color, ENOUGH);
    rules.push(`.v-fg-${number}{color:${readable(color, theme.background, ENOUGH)}}`, `.v-bg-${number}{background:${color};color:${ink}}`);
  }
  sheet.replaceSync(rules.join("\n"));
}
