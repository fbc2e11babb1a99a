// Tells the server what this display can show: at first, and whenever its size changes.
import { soon } from "../parts/async_order.js";
import { byId } from "../parts/dom.js";

const TYPICAL = "The importer keeps the last row now, with or without a newline at its end.";
const NARROWEST = 20, WIDEST = 200; // cells

/** Cells of text that a row has room for; the server fits tables to it. Null while the timeline is hidden. */
function cells() {
  const list = document.querySelector(".entries");
  if (!(list instanceof HTMLElement) || byId("timeline").hidden || !list.clientWidth) return null;
  const style = getComputedStyle(list), probe = document.createElement("span");
  probe.textContent = TYPICAL;
  probe.className = "probe";
  list.append(probe);
  const cell = probe.getBoundingClientRect().width / TYPICAL.length;
  probe.remove();
  const gutter = matchMedia("(max-width: 48rem)").matches ? 32 : 104; // the time, and the padding of a row
  const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - gutter;
  return Math.min(Math.max(Math.floor(room / cell), NARROWEST), WIDEST);
}

/**
 * @param {import("../connection/socket.js").Link} link
 * @param {import("../timeline/timeline.js").Timeline} timeline
 */
export function startPresentation(link, timeline) {
  const tell = () => {
    const width = cells();
    if (width === null || (width === timeline.width && link.presentation)) return;
    timeline.width = width;
    link.present({
      client_type: "web", content_width: width, supports_markdown: true, supports_tables: true, supports_code_blocks: true,
      supports_images: true, supports_rich_text: true, supports_unicode: true, supports_mermaid: false, wrap_mode: "soft", color_depth: 16777216,
    });
  };
  const later = soon(250, tell);
  new ResizeObserver(() => link.presentation ? later() : tell()).observe(byId("middle"));
  tell();
}
