// The terminal's screen: rows of cells from a snapshot and what changed since, as large as fits. Looking at it never
// changes the size that the program sees.
import { Latest } from "../parts/async_order.js";
import { declarations, themeOfPage } from "../parts/colors.js";
import { byId, h } from "../parts/dom.js";
import { notice } from "../parts/messages.js";
import { waitsForRelease } from "../parts/press.js";
import { api } from "../connection/api.js";
import { isOne, isSafe, write } from "./cells.js";
import { misleading } from "./misleading_links.js";
import { pieces } from "./styled_pieces.js";

/** @typedef {import("../../types.d.ts").Run} Run @typedef {import("../../types.d.ts").ScreenDelta} ScreenDelta @typedef {import("../../types.d.ts").ScreenRead} ScreenRead */

const LINE_HEIGHT = 1.25, LARGEST = 16, READABLE = 13, SMALLEST = 4; // px
const BESIDE = matchMedia("(min-width: 48.01rem)"), BELOW = matchMedia("(max-width: 75rem)"); // the timeline, as in page.css
const MAX_SHARE_OF_WINDOW = 0.62;
const ENOUGH = 4.5; // contrast of text that has a colour of the palette
const MAX_STYLES = 4000;
const SCROLLBACK = 300; // lines that are fetched at once

/** @typedef {{ text: string, runs: Run[] }} Line */
/** @typedef {{ lines: Line[], cols: number, cursor: import("../../types.d.ts").Cursor, title: string, alt: boolean, ts: number, offset: number }} Picture */

/** @returns {Picture} */
const blank = () => ({ lines: [], cols: 80, cursor: { row: 0, col: 0, visible: false }, title: "", alt: false, ts: 0, offset: 0 });

/** What has left the screen, as far as it was fetched. */
const noHistory = () => ({ first: 0, total: 0, open: false, reading: false });

export class Terminal {
  constructor() {
    this.view = byId("view");
    this.grid = byId("grid");
    this.rows = byId("rows");
    this.cursor = byId("cursor");
    this.conversation = "";
    this.live = blank();
    /** What is shown instead of the live screen. @type {Picture | null} */
    this.past = null;
    /** Of each row what it was drawn from. @type {(Line | undefined)[][]} */
    this.drawn = [];
    this.ratio = 0;
    this.zoomed = false;
    /** @type {Map<string, number>} */
    this.styles = new Map();
    this.sheet = new CSSStyleSheet();
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.sheet];
    this.theme = themeOfPage();
    this.history = noHistory();
    this.totals = new Latest();
    this.frame = 0;
    new ResizeObserver(() => requestAnimationFrame(() => this.fit())).observe(byId("terminal-pane"));
    byId("zoom").addEventListener("click", () => this.zoom());
    byId("earlier").addEventListener("click", () => this.earlier());
  }

  /** @param {string} conversation */
  open(conversation) {
    this.conversation = conversation;
    this.live = blank();
    this.past = null;
    this.history = noHistory();
    byId("scrollback").textContent = "";
    byId("scrollback").hidden = true;
    this.refresh();
  }

  get picture() {
    return this.past ?? this.live;
  }

  /** What changed on the live screen; another size brings every row. @param {ScreenDelta} delta */
  apply(delta) {
    const { live } = this, count = delta.rows_count;
    if (live.lines.length !== count || live.cols !== delta.cols) live.lines = Array.from({ length: count }, () => ({ text: "", runs: [] }));
    for (const row of delta.rows) live.lines[row.row] = { text: row.text, runs: row.runs ?? [] };
    Object.assign(live, { cols: delta.cols, cursor: delta.cursor, title: delta.title, alt: delta.alt_screen, ts: delta.ts, offset: delta.raw_offset ?? live.offset });
    if (!this.past) this.refresh();
  }

  /** Shows an earlier screen. @param {ScreenRead} read */
  showPast(read) {
    this.past = {
      lines: Array.from({ length: read.rows_count }, (_, n) => ({ text: read.rows[n] ?? "", runs: read.runs?.[n] ?? [] })),
      cols: read.cols, cursor: read.cursor, title: read.title, alt: read.alt_screen, ts: read.ts, offset: read.raw_offset,
    };
    this.refresh();
  }

  showLive() {
    this.past = null;
    this.refresh();
  }

  refresh() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** The theme has changed. */
  paint() {
    this.theme = themeOfPage();
    this.forgetStyles();
    this.refresh();
  }

  forgetStyles() {
    this.styles.clear();
    this.sheet.replaceSync("");
    this.drawn = [];
  }

  draw() {
    const { rows, cursor, picture } = this;
    if (this.styles.size > MAX_STYLES) this.forgetStyles();
    if (rows.children.length !== picture.lines.length) {
      rows.replaceChildren(...picture.lines.map(() => h("div.term-row")));
      this.drawn = [];
    }
    picture.lines.forEach((line, n) => {
      const linked = line.runs.some((run) => run.link), around = linked ? [line, picture.lines[n - 1], picture.lines[n + 1]] : [line];
      const drawn = this.drawn[n];
      if (drawn?.length === around.length && around.every((each, index) => each === drawn[index])) return;
      if (waitsForRelease(/** @type {Element} */ (rows.children[n]), () => this.refresh())) return;
      const parts = pieces(line.text, line.runs), marked = linked ? misleading(parts, picture.cols, around[1], around[2]) : null;
      rows.children[n]?.replaceChildren(...parts.flatMap((part, index) => {
        const before = parts[index - 1], at = before ? before.start + before.cells : 0, piece = this.piece(part, marked?.has(part));
        return part.start > at ? [" ".repeat(part.start - at), piece] : [piece];
      }));
      this.drawn[n] = around;
    });
    cursor.dataset.shape = picture.cursor.visible === false || !picture.lines.length ? "" : picture.cursor.shape ?? "block";
    cursor.style.left = `calc(var(--cw) * ${picture.cursor.col})`;
    cursor.style.top = `calc(var(--lh) * ${picture.cursor.row})`;
    byId("terminal-title").textContent = picture.title;
    byId("terminal-size").textContent = picture.lines.length ? `${picture.cols} × ${picture.lines.length}${picture.alt ? " · alternate screen" : ""}` : "";
    byId("earlier").hidden = !this.history.total || (this.history.open && this.history.first === 0);
    byId("earlier").classList.toggle("away", picture.alt || this.past !== null);
    byId("scrollback").hidden = picture.alt || this.past !== null || !this.history.open;
    this.view.dataset.offset = String(picture.offset);
    this.fit();
  }

  /** @param {{ cells: number, text: string, run: Run | null }} part @param {boolean} [misleads] its text shows another address */
  piece(part, misleads) {
    const link = part.run?.link, safe = link && isSafe(link), element = document.createElement(safe && !misleads ? "a" : "span");
    if (safe) element.title = misleads ? `This text shows another address. The link leads to ${link}` : link;
    if (element instanceof HTMLAnchorElement && link) {
      element.href = link;
      element.rel = "noopener noreferrer nofollow";
      element.target = "_blank";
    }
    if (part.run) element.className = `t${this.style(part.run)}`;
    if (safe && misleads) element.classList.add("misleads");
    if (part.text.length !== part.cells) element.style.width = `calc(var(--cw) * ${part.cells})`;
    write(element, part.text, part.cells === 2 && isOne(part.text));
    return element;
  }

  /** The number of a style's rule. @param {Run} run */
  style(run) {
    const key = `${run.fg ?? ""} ${run.bg ?? ""} ${run.attrs?.join(" ") ?? ""}`, known = this.styles.get(key);
    if (known !== undefined) return known;
    const number = this.styles.size;
    this.styles.set(key, number);
    this.sheet.insertRule(`.t${number}{${declarations(run, this.theme, ENOUGH)}}`, this.sheet.cssRules.length);
    return number;
  }

  // size

  measure() {
    const probe = h("span.term-probe", null, "0".repeat(50));
    Object.assign(probe.style, { position: "absolute", visibility: "hidden", fontSize: "100px" });
    this.grid.append(probe);
    this.ratio = probe.getBoundingClientRect().width / 5000;
    probe.remove();
  }

  fit() {
    if (!this.ratio) this.measure();
    if (!this.ratio) return; // not to be seen now
    const { picture, view } = this, padding = getComputedStyle(view);
    const width = view.clientWidth - parseFloat(padding.paddingLeft) - parseFloat(padding.paddingRight);
    if (width <= 0) return;
    const fitting = Math.min(LARGEST, width / (picture.cols * this.ratio), Math.max(this.room() / (Math.max(picture.lines.length, 1) * LINE_HEIGHT), SMALLEST));
    const size = this.zoomed ? Math.max(fitting, READABLE) : fitting;
    const line = size > 9 ? Math.floor(size * LINE_HEIGHT) : size * LINE_HEIGHT; // whole pixels: no seams between rows
    for (const [name, value] of [["fs", `${size}px`], ["cw", `${size * this.ratio}px`], ["lh", `${line}px`], ["cols", String(picture.cols)], ["lines", String(picture.lines.length)]]) {
      view.style.setProperty(`--${name}`, value ?? "");
    }
    view.classList.toggle("scrolls", this.zoomed || this.history.open);
    if (this.zoomed) this.follow();
  }

  /** Height that the screen may take, so that its last line can be seen, too; where the whole pane scrolls anyway, any. */
  room() {
    const { view } = this, pane = byId("terminal-pane");
    if (this.history.open || !BESIDE.matches) return Infinity;
    const style = getComputedStyle(view), box = view.getBoundingClientRect(), earlier = byId("earlier");
    const above = box.top - pane.getBoundingClientRect().top + pane.scrollTop, frame = box.height - view.clientHeight + parseFloat(style.paddingTop) + parseFloat(style.paddingBottom) + parseFloat(style.marginBottom);
    const whole = BELOW.matches ? pane.clientHeight - above : innerHeight * MAX_SHARE_OF_WINDOW;
    return whole - frame - (earlier.hidden ? 0 : earlier.offsetHeight + 4);
  }

  zoom() {
    this.zoomed = !this.zoomed;
    byId("zoom").setAttribute("aria-pressed", String(this.zoomed));
    this.fit();
  }

  /** Keeps the cursor in sight where not all of the screen is. */
  follow() {
    const { view, cursor } = this, x = cursor.offsetLeft, y = cursor.offsetTop + this.grid.offsetTop, line = cursor.offsetHeight;
    if (y < view.scrollTop || y + 2 * line > view.scrollTop + view.clientHeight) view.scrollTop = y - view.clientHeight + 3 * line;
    if (x < view.scrollLeft || x > view.scrollLeft + view.clientWidth - 40) view.scrollLeft = x - view.clientWidth * 0.6;
  }

  // what has left the screen

  /** Reads how many lines have left the screen. */
  async lookBack() {
    const { conversation, history } = this, isLast = this.totals.begin();
    const read = await api.pty(conversation, "read_scrollback", { limit: 1 }).catch(() => null);
    if (!read || !isLast() || history !== this.history) return;
    history.total = read.total;
    this.refresh();
  }

  async earlier() {
    const { history, view } = this, place = byId("scrollback"), opened = !history.open;
    const end = history.open ? history.first : undefined, limit = end === undefined ? SCROLLBACK : Math.min(SCROLLBACK, end);
    if (!limit || history.reading) return;
    history.reading = true;
    const read = await api.pty(this.conversation, "read_scrollback", { limit, ...(end === undefined ? {} : { from_line: end - limit }) }).catch((error) => {
      notice(error.message);
      return null;
    });
    history.reading = false;
    if (!read || history !== this.history) return;
    const rest = view.scrollHeight - view.scrollTop;
    history.open = true;
    history.first = read.first_line;
    const lines = read.lines.join("\n");
    place.textContent = opened ? lines : `${lines}\n${place.textContent}`;
    this.draw();
    view.scrollTop = opened ? view.scrollHeight : view.scrollHeight - rest;
  }
}
