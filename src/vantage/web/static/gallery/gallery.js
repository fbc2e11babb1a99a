// The gallery: a render spec and a sample call, drawn on every surface while they are written.
import { Latest, soon } from "../parts/async_order.js";
import { byId, drawIcons, h, markup } from "../parts/dom.js";
import { notice, wordsOf } from "../parts/messages.js";
import { paintPalette } from "../parts/palette.js";
import { startTheme } from "../parts/theme.js";
import { api } from "../connection/api.js";

/** @typedef {{ surface: string, form: string, collapsed: string, expanded: string }} Drawn */
/** @typedef {{ path: string, message: string, hint: string, fatal: boolean }} Problem */

const NAMES = /** @type {Record<string, string>} */ ({ html: "This page", terminal: "Terminal", plain: "Plain text", telegram: "Telegram", slack: "Slack" });
const spec = byId("spec", HTMLTextAreaElement), sample = byId("sample", HTMLTextAreaElement);
const previews = new Latest();

/**
 * The JSON of a field, or what is wrong with it.
 * @param {HTMLTextAreaElement} field
 * @returns {{ value: any, problem: string }}
 */
function read(field) {
  let value = null, problem = "";
  try {
    value = JSON.parse(field.value || "{}");
    if (typeof value !== "object" || value === null || Array.isArray(value)) problem = "not an object: it begins with { and ends with }";
  } catch (error) {
    problem = `not JSON: ${wordsOf(error)}`;
  }
  if (problem) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  return { value, problem };
}

async function show() {
  const isLast = previews.begin(), written = read(spec), call = read(sample);
  if (written.problem || call.problem) {
    verdict([["bad", "✗", "", `${written.problem ? "The spec" : "The sample"} is ${written.problem || call.problem}`]]);
    return;
  }
  const running = byId("running", HTMLInputElement).checked, width = Number(byId("width", HTMLInputElement).value);
  const { args, output, partial, details, error, durationMs } = call.value;
  const given = { args, output: running ? partial ?? output : output, details, error, durationMs };
  try {
    const answer = await api.preview({
      spec: written.value.renderSpec ?? written.value, tool: written.value.tool ?? "preview", running, ...(width >= 20 ? { width } : {}),
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    });
    if (isLast()) draw(answer);
  } catch (problem) {
    if (isLast()) verdict([["bad", "✗", "", problem instanceof Error ? problem.message : String(problem)]]);
  }
}

/** @param {{ problems: Problem[], notes: string[], drawings: Drawn[] }} answer */
function draw({ problems, notes, drawings }) {
  const said = problems.map((problem) => /** @type {[string, string, string, string]} */ ([problem.fatal ? "bad" : "odd", problem.fatal ? "✗" : "!", problem.path, `${problem.message}${problem.hint ? ` (${problem.hint})` : ""}`]));
  const refused = problems.some((problem) => problem.fatal);
  if (refused) spec.setAttribute("aria-invalid", "true");
  verdict([...(refused ? [] : [/** @type {[string, string, string, string]} */ (["ok", "✓", "", "The spec is valid."])]), ...said, ...notes.map((note) => /** @type {[string, string, string, string]} */ (["odd", "·", "", note]))]);
  if (!drawings.length) return; // what was drawn last stays while the spec is being mended
  byId("drawings").replaceChildren(...drawings.flatMap((drawn) => [
    h("h2", null, NAMES[drawn.surface] ?? drawn.surface),
    sketch(drawn, drawn.collapsed),
    drawn.expanded === drawn.collapsed ? null : sketch(drawn, drawn.expanded, true),
  ].filter((part) => part !== null)));
}

/** @param {Drawn} drawn @param {string} content @param {boolean} [open] */
function sketch(drawn, content, open) {
  const place = h("div.sketch", { "data-surface": drawn.surface });
  if (drawn.form === "html") place.append(markup(content));
  else place.append(h("pre", { tabindex: 0, "aria-label": `${NAMES[drawn.surface] ?? drawn.surface}, ${open ? "expanded" : "collapsed"}`, role: "group" }, content));
  for (const details of place.querySelectorAll("details")) details.open = open === true;
  for (const element of place.querySelectorAll("[id]")) if (!open) element.removeAttribute("id");
  return place;
}

/** @param {[string, string, string, string][]} lines class, glyph, path, words */
function verdict(lines) {
  byId("verdict").replaceChildren(h("ul", null, ...lines.map(([kind, glyph, path, words]) =>
    h("li", null, h(`span.glyph.${kind}`, { "aria-hidden": "true" }, glyph), path ? h("code", null, path) : null, path ? " " : null, words))));
}

drawIcons();
startTheme(paintPalette);
const later = soon(200, show);
for (const name of ["spec", "sample", "running", "width"]) byId(name).addEventListener("input", later);

/** @type {Record<string, { spec: unknown, sample: unknown }>} */
const examples = await (await fetch(new URL("./example_specs.json", import.meta.url))).json().catch(() => ({}));
const select = byId("example", HTMLSelectElement);
select.append(...Object.keys(examples).map((name) => h("option", { value: name }, name)));
const choose = () => {
  const example = examples[select.value];
  if (!example) {
    notice("The examples could not be loaded.");
    return;
  }
  spec.value = JSON.stringify(example.spec, null, 2);
  sample.value = JSON.stringify(example.sample, null, 2);
  show();
};
select.addEventListener("change", choose);
select.value = "weather";
choose();
document.documentElement.dataset.ready = "true";
