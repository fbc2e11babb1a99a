// The element of a row: the day and the agent above it, its time, its markup, its buttons.
import { dayOf, fullTime, timeOfDay } from "../parts/dates.js";
import { h, icon } from "../parts/dom.js";
import { entryBody, entryMarkup, finish } from "./row_markup.js";

/** @typedef {import("./rows.js").Row} Row @typedef {{ day: string, agent: string }} Lead */

/** When a row began, as far as one knows: it carries the time of its last change. @param {Row} row */
export const began = (row) => (row.outline.ts ?? 0) - (row.outline.duration_ms ?? 0);

/** What stands above a row: the day, when it is another one; the agent, when it is another. @param {Row} row @param {Row | undefined} before @returns {Lead} */
export function leadOf(row, before) {
  const { agent, depth } = row.outline, ts = began(row), earlier = before ? began(before) : 0;
  return {
    day: ts && (row.n === 1 || (earlier && dayOf(earlier) !== dayOf(ts))) ? dayOf(ts) : "",
    agent: depth > 0 && before && (before.outline.agent ?? "") !== (agent ?? "") ? agent || "sub-agent" : "",
  };
}

/** The place of a row that has not arrived. @param {number} n */
export const waitingElement = (n) => h("div.entry", { "data-n": n }, h("div.entry-wait"));

/** @param {Row} row @param {Lead} lead @param {string} conversation @param {boolean} open */
export function rowElement(row, lead, conversation, open) {
  const ts = began(row), address = `#c=${encodeURIComponent(conversation)}&seq=${row.begin}`;
  const element = h(`div.entry.of-${row.outline.kind}`, { "data-n": row.n, tabindex: -1 },
    lead.day ? h("div.entry-day", null, lead.day) : null,
    lead.agent ? h("div.entry-agent", { "data-depth": row.outline.depth }, lead.agent) : null,
    ts ? h("a.entry-when", { href: address, title: `${fullTime(ts)} · link to this row` }, timeOfDay(ts)) : h("span.entry-when"),
    entryMarkup(row, conversation),
    h("div.entry-tools", null, h("button", { type: "button", "data-copy": "row", title: "Copy (c)", "aria-label": "Copy this row" }, icon("copy"))),
  );
  const details = element.querySelector("details.v-details");
  if (details instanceof HTMLDetailsElement && open) {
    fillBody(details, row, conversation);
    details.open = true;
  }
  if (!details) finish(element);
  return element;
}

/** Draws what is inside a row that is open. @param {HTMLDetailsElement} details @param {Row} row @param {string} conversation */
export function fillBody(details, row, conversation) {
  const body = details.querySelector(".v-body");
  if (body && !body.hasChildNodes()) {
    body.append(entryBody(row, conversation));
    finish(details);
  }
}

/** What a person had opened, scrolled or focused inside a row stays so when the row is drawn anew. @param {HTMLElement} from @param {HTMLElement} to */
export function carryOver(from, to) {
  const nested = (/** @type {HTMLElement} */ element) => /** @type {HTMLDetailsElement[]} */ ([...element.querySelectorAll("details:not(.v-details)")]);
  const fresh = nested(to);
  nested(from).forEach((each, index) => { if (each.open && fresh[index]) fresh[index].open = true; });
  const panes = [...to.querySelectorAll(".v-pre, .v-table-scroll")];
  const scrolled = [...from.querySelectorAll(".v-pre, .v-table-scroll")].map((each) => [each.scrollTop, each.scrollLeft, each.scrollHeight - each.clientHeight - each.scrollTop < 8 && each.scrollTop > 0]);
  if (from.contains(document.activeElement)) {
    queueMicrotask(() => /** @type {HTMLElement} */ (to.querySelector("summary.v-head") ?? to).focus({ preventScroll: true }));
  }
  requestAnimationFrame(() => panes.forEach((pane, index) => {
    const [top, left, end] = scrolled[index] ?? [];
    if (top === undefined) return;
    pane.scrollTop = end ? pane.scrollHeight : Number(top);
    pane.scrollLeft = Number(left);
  }));
}
