// The page, put together: which conversation is shown, and who is told what the server says.
import { api, Refused } from "./api.js";
import { askPerson } from "./ask.js";
import { Commands } from "./commands.js";
import { startDivider } from "./divider.js";
import { Conversations, nameOf, showState } from "./conversations.js";
import { startDisplay } from "./display.js";
import { byId, drawIcons, notice, say } from "./dom.js";
import { Keyboard } from "./keyboard.js";
import { clientId, Link } from "./link.js";
import { sayLink } from "./link_state.js";
import { Notify } from "./notify.js";
import { paintPalette } from "./palette.js";
import { Scrubber } from "./scrubber.js";
import { Search } from "./search.js";
import { Secret } from "./secret.js";
import { startShortcuts } from "./shortcuts.js";
import { Rows } from "./store.js";
import { Terminal } from "./terminal.js";
import { startTheme } from "./theme.js";
import { began, Timeline } from "./timeline.js";
import { chooseOne, emptyConversation, firstStart, notLoggedIn } from "./welcome.js";

/** @typedef {import("../types.d.ts").Message} Message @typedef {import("../types.d.ts").LinkState} LinkState */

drawIcons();

const link = new Link(await clientId(), { onState: showLink, onMessage: heard, denied });
const timeline = new Timeline(byId("timeline"));
const terminal = new Terminal();
const keyboard = new Keyboard(link, () => { if (!scrubber.live) scrubber.toLive(); });
const secret = new Secret(keyboard);
const notify = new Notify();
const commands = new Commands({ show: showOutput, rewind: (block) => scrubber.toBlock(block), changed: () => { scrubber.survey(); terminal.lookBack(); } });
const scrubber = new Scrubber(terminal, commands);
const conversations = new Conversations({ changed: listed, failed: (error) => { if (error instanceof Refused && error.status === 401) loggedOut(); } });
const search = new Search({ conversation: () => shown.id, nameOf: (id) => { const each = conversations.get(id); return each ? nameOf(each) : id; }, go: (id, seq) => { location.hash = `#c=${encodeURIComponent(id)}&seq=${seq}`; } });

/** @type {{ id: string, rows: Rows, seq: number | null, block: import("../types.d.ts").Block | null, state: import("../types.d.ts").PtyState, started: boolean, told: number, missing: boolean }} */
const shown = { id: "", rows: new Rows(), seq: null, block: null, state: {}, started: false, told: 0, missing: false };
let listedOnce = false;

// which conversation

/** What the address says: `#c=<conversation>&seq=<event>`. */
function address() {
  const parts = new URLSearchParams(location.hash.slice(1)), seq = Number(parts.get("seq"));
  return { id: parts.get("c") ?? "", seq: seq > 0 ? seq : null };
}

function follow() {
  const { id, seq } = address();
  if (id !== shown.id) open(id, seq);
  else if (seq !== null) goToSeq(seq);
}

/** @param {string} id @param {number | null} seq */
function open(id, seq) {
  if (shown.id) link.leave(shown.id);
  shown.id = id;
  shown.seq = seq;
  shown.block = null;
  shown.rows = new Rows();
  shown.state = {};
  shown.started = shown.missing = false;
  const { rows } = shown;
  conversations.select(id);
  keyboard.open(id);
  secret.state({});
  terminal.open(id);
  timeline.open(id, rows);
  showExpanded();
  if (id) {
    link.follow(id, () => ({ epoch: rows.epoch, after: rows.seq }));
    commands.open(id);
  }
  scrubber.open(id);
  byId("export").setAttribute("href", `/v1/conversations/${encodeURIComponent(id)}/export?format=html`);
  frame();
  title();
}

/** Which parts there are to see. */
function frame() {
  const { id, rows } = shown, there = id !== "" && !shown.missing;
  const welcome = byId("welcome");
  const kind = there ? (!rows.count && rows.epoch ? "empty" : "") : !listedOnce ? "" : id || conversations.all.length ? "choose" : "first";
  if (welcome.dataset.kind !== `${kind} ${id}`) {
    welcome.dataset.kind = `${kind} ${id}`;
    if (kind === "first") welcome.replaceChildren(firstStart({ create, demo }));
    else if (kind === "empty") welcome.replaceChildren(emptyConversation(id, { terminal: () => { pane("terminal"); byId("start").hidden ? keyboard.take() : startShell(); } }));
    else if (kind === "choose") welcome.replaceChildren(chooseOne(id, { create, choose: () => pane("conversations") }));
    else welcome.replaceChildren();
  }
  welcome.hidden = !kind;
  byId("timeline").hidden = byId("timeline-head").hidden = !there || kind === "empty";
  byId("terminal-pane").hidden = !there;
  for (const name of ["rename", "export", "close-shell", "delete", "state"]) byId(name).hidden = !there;
  document.body.classList.toggle("no-terminal", !there || localStorage.getItem("vantage-terminal") === "closed");
  /** @type {HTMLButtonElement} */ (document.querySelector("#switch [data-pane=terminal]")).disabled = !there;
  if (!there && document.body.dataset.pane === "terminal") pane("timeline");
}

/** The address names a conversation that is not here, or no longer. */
function missing() {
  shown.missing = true;
  frame();
}

function title() {
  const about = conversations.get(shown.id), name = about ? nameOf(about) : shown.id || "Vantage";
  byId("name").textContent = name;
  const asks = shown.state.awaiting_secret ? "! " : "";
  document.title = shown.id ? `${asks}${name} · Vantage` : "Vantage";
}

/** @param {import("../types.d.ts").Description[]} all */
function listed(all) {
  if (!listedOnce) {
    listedOnce = true;
    const first = all[0];
    if (!address().id && first) history.replaceState(null, "", `#c=${encodeURIComponent(first.id)}`);
    follow();
  }
  for (const each of all) {
    if (each.state === "secret" && each.id !== shown.id) notify.tell("A secret is asked for", nameOf(each), `secret ${each.id}`);
  }
  const about = conversations.get(shown.id);
  if (about && shown.missing) open(shown.id, shown.seq); // it was made meanwhile
  if (about && !shown.state.mode) showState(byId("state"), about.state);
  frame();
  title();
}

function create() {
  return begin(api.create({}));
}

/** Plays the demo in a conversation of its own. */
function demo() {
  return begin(api.demo());
}

/**
 * Goes to a conversation that is being made.
 * @param {Promise<{ id: string }>} making
 */
async function begin(making) {
  try {
    const made = await making;
    await conversations.load();
    location.hash = `#c=${encodeURIComponent(made.id)}`;
    pane("timeline");
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

// what the server says

/** @param {Message} message */
function heard(message) {
  if (message.type === "error") {
    if (message.code === "deleted" && message.conversation_id === shown.id) location.hash = "";
    if (message.code === "not_found" && message.about === "subscribe" && message.conversation_id === shown.id) {
      missing();
      return;
    }
    notice(message.hint ? `${message.message}: ${message.hint}` : message.message);
    if (message.about === "input" || message.about === "take_keyboard") keyboard.wanted = false;
    return;
  }
  if (message.conversation_id !== shown.id) return;
  HANDLERS[message.type]?.(message);
}

/** @type {Record<string, (message: Message) => void>} */
const HANDLERS = {
  snapshot(message) {
    const { rows } = shown;
    if (rows.epoch !== message.epoch) {
      rows.clear(message.epoch);
      timeline.open(shown.id, rows);
    }
    for (const drawn of message.rows) rows.put(drawn, timeline.width);
    rows.seq = Math.max(rows.seq, message.seq);
    if (message.screen) terminal.apply(message.screen);
    if (message.state) tell(message.state);
    commands.read();
    lookForShell();
    came();
    if (shown.seq !== null) goToSeq(shown.seq);
    if (shown.block) showOutput(shown.block);
    shown.seq = shown.block = null;
  },
  resumed(message) {
    shown.rows.epoch = message.epoch;
    commands.read();
    lookForShell();
    came();
  },
  row(message) {
    const before = shown.rows.get(Number(message.row.id.slice(1)))?.outline.status;
    if (!shown.rows.put(/** @type {any} */ (message), timeline.width)) return;
    const { kind, status, title: words } = message.row;
    if (status !== before && (status === "ok" || status === "error")) say(`${words}: ${status === "ok" ? "done" : "failed"}`);
    else if (before === undefined && kind === "user") say("You said something");
    came();
  },
  screen_delta(message) {
    terminal.apply(/** @type {any} */ (message));
    if (!shown.started && message.raw_offset) lookForShell();
  },
  pty_state: (message) => tell(/** @type {import("../types.d.ts").PtyState} */ (message)),
  agent_block_begin: (message) => commands.heard(message),
  agent_block_end: (message) => commands.heard(message),
};

function came() {
  timeline.refresh();
  frame();
}

const MODES = /** @type {Record<string, [string, string]>} */ ({
  idle: ["idle", "idle"], block_running: ["running", "running"], interactive: ["running", "interactive"], exited: ["ended", "no shell"],
});

/** A terminal is idle before its shell has started, too: whether one runs is asked for. */
async function lookForShell() {
  const { id, told } = shown;
  const status = await api.pty(id, "status").catch(() => null);
  if (status === null || id !== shown.id) return;
  shown.started = status.pid !== null;
  if (told !== shown.told) lookForShell(); // the server has told something meanwhile: its answer may be older than that
  else state({ ...shown.state, mode: status.mode, foreground: status.foreground, awaiting_secret: status.awaiting_secret, keyboard: status.keyboard });
}

/** What the server says by itself, as against what it answers. @param {import("../types.d.ts").PtyState} said */
function tell(said) {
  shown.told += 1;
  state(said);
}

/** @param {import("../types.d.ts").PtyState} said */
function state(said) {
  const before = shown.state;
  shown.state = { ...said };
  if (said.mode === "block_running" || said.mode === "interactive") shown.started = true;
  const mode = shown.started ? said.mode ?? "" : "exited";
  const [name, words] = said.awaiting_secret ? ["secret", "waiting for a secret"] : MODES[mode] ?? ["ended", mode];
  const doing = name === "running" && said.foreground ? `${words}: ${said.foreground}` : words;
  showState(byId("terminal-state"), name, doing);
  showState(byId("state"), name === "ended" && said.mode !== "exited" ? conversations.get(shown.id)?.state ?? "new" : name);
  keyboard.state({ ...said, mode });
  secret.state(said);
  terminal.refresh(); // the field of a secret takes room
  if (said.awaiting_secret && !before.awaiting_secret) {
    say("A secret is asked for.");
    notify.tell("A secret is asked for", byId("name").textContent ?? "", `secret ${shown.id}`);
  }
  if (said.turn === "done" && before.turn === "working") {
    say("The turn has ended.");
    notify.tell("A turn has ended", byId("name").textContent ?? "", `turn ${shown.id}`);
  }
  title();
}

// going somewhere

/** Brings the row of an event into sight. @param {number} seq */
async function goToSeq(seq) {
  const { rows, id } = shown;
  pane("timeline");
  try {
    const { rows: found } = await api.rows(id, seq + 1, 1, timeline.width);
    if (rows !== shown.rows) return;
    const drawn = found[found.length - 1];
    if (!drawn) {
      notice("There is no such row.");
      return;
    }
    rows.put(drawn, timeline.width);
    await timeline.goTo(Number(drawn.row.id.slice(1)), { open: true, flash: true });
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

/** The row of a command: its output. @param {import("../types.d.ts").Block} block */
async function showOutput(block) {
  const { rows } = shown;
  if (!rows.epoch) { // nothing has come yet
    shown.block = block;
    return;
  }
  const mark = `data-block-id="${block.block_id}"`;
  const of = () => [...rows.byPlace.values()].find((row) => row.outline.tool === "terminal" && row.html.includes(mark))?.n;
  let low = 1, high = rows.count, n = of();
  for (let tries = 0; n === undefined && low <= high && tries < 20; tries++) { // rows are in the order of time
    const middle = (low + high) >> 1;
    if (!rows.get(middle)) await timeline.load(middle);
    const row = rows.get(middle);
    if (row && began(row) < block.ts_begin) low = middle + 1; else high = middle - 1;
    n = of();
  }
  if (n === undefined) {
    notice("The timeline has no row of this command.");
    return;
  }
  pane("timeline");
  await timeline.goTo(n, { open: true, flash: true });
}

/** On a phone there is one pane at a time. @param {string} name */
function pane(name) {
  document.body.dataset.pane = name;
  for (const button of document.querySelectorAll("#switch button")) {
    if (/** @type {HTMLElement} */ (button).dataset.pane === name) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
  timeline.refresh();
  terminal.refresh();
}

// the link

/** @param {LinkState} state */
function showLink(state) {
  if (state.name === "denied") loggedOut();
  else sayLink(state);
  if (state.name === "live") conversations.load();
}

async function denied() {
  try {
    await api.conversations();
    return false;
  } catch (error) {
    return error instanceof Refused && error.status === 401;
  }
}

function loggedOut() {
  sayLink({ name: "denied" });
  const welcome = byId("welcome");
  welcome.replaceChildren(notLoggedIn());
  welcome.dataset.kind = "denied";
  welcome.hidden = false;
  for (const name of ["timeline", "timeline-head", "terminal-pane"]) byId(name).hidden = true;
}

async function startShell() {
  try {
    await keyboard.withoutMe(); // whoever has the keyboard keeps the agent's verbs out, and this is one of them
    await api.pty(shown.id, "reset");
    await lookForShell();
    keyboard.take();
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

// hands

/** @param {string} name @param {string} key @param {string} button */
function fold(name, key, button) {
  const closed = document.body.classList.toggle(name);
  byId(button).setAttribute("aria-expanded", String(!closed));
  if (closed) localStorage.setItem(key, "closed");
  else localStorage.removeItem(key);
  timeline.refresh();
}

const foldList = () => fold("no-list", "vantage-list", "list-toggle");
const foldTerminal = () => { if (shown.id && !shown.missing) fold("no-terminal", "vantage-terminal", "terminal-toggle"); };
const showExpanded = () => {
  const { all } = timeline.folds, button = byId("expand");
  button.setAttribute("aria-pressed", String(all));
  button.textContent = all ? "Collapse all" : "Expand all";
};
const expandAll = () => {
  timeline.toggleAll();
  showExpanded();
};

byId("asks-answer").addEventListener("click", () => {
  if (document.body.classList.contains("no-terminal")) foldTerminal();
  pane("terminal");
  byId("secret-field").focus();
});
byId("link-now").addEventListener("click", () => link.wake());
byId("list-toggle").addEventListener("click", foldList);
byId("terminal-toggle").addEventListener("click", foldTerminal);
byId("expand").addEventListener("click", expandAll);
byId("new").addEventListener("click", create);
byId("start").addEventListener("click", startShell);
byId("keys-open").addEventListener("click", () => { byId("menu").hidePopover(); byId("keys", HTMLDialogElement).showModal(); });
byId("rename").addEventListener("click", async () => {
  const about = conversations.get(shown.id), name = await askPerson({ head: "Rename this conversation", yes: "Rename", value: about?.name ?? "" });
  if (name === null) return;
  await api.rename(shown.id, name).catch((error) => notice(error.message));
  conversations.load();
});
byId("close-shell").addEventListener("click", async () => {
  byId("menu").hidePopover();
  if (await askPerson({ head: "End the shell?", words: "Whatever runs in it is ended too. The conversation stays.", yes: "End it" })) {
    await api.close(shown.id).catch((error) => notice(error.message));
    conversations.load();
  }
});
byId("delete").addEventListener("click", async () => {
  byId("menu").hidePopover();
  const { id } = shown;
  if (await askPerson({ head: "Delete this conversation?", words: "Its log, its terminal’s output and its recordings are removed from disk.", yes: "Delete it" })) {
    try {
      await api.remove(id);
      location.hash = "";
    } catch (error) {
      notice(error instanceof Error ? error.message : String(error));
    }
    conversations.load();
  }
});
for (const button of document.querySelectorAll("#switch button")) {
  button.addEventListener("click", () => pane(/** @type {HTMLElement} */ (button).dataset.pane ?? "timeline"));
}
byId("conversation-list").addEventListener("click", (event) => { if (event.target instanceof Element && event.target.closest("a")) pane("timeline"); });
addEventListener("hashchange", follow);
addEventListener("pagehide", () => { if (keyboard.mine) keyboard.giveBack(); });

startShortcuts([
  { key: "j", words: "next row", act: () => timeline.step(1) },
  { key: "k", words: "row before", act: () => timeline.step(-1) },
  { key: "e", words: "expand the row, or collapse it", act: () => timeline.toggle() },
  { key: "E", words: "expand all rows, or collapse them", act: expandAll },
  { key: "c", words: "copy the row’s source", act: () => timeline.copy() },
  { key: "g", words: "first row", act: () => timeline.toStart() },
  { key: "G", words: "jump to latest", act: () => timeline.toEnd() },
  { key: "/", words: "search", act: () => search.start() },
  { key: "t", words: "show the terminal, or hide it", act: foldTerminal },
  { key: "b", words: "show the conversations, or hide them", act: foldList },
  { key: "i", words: "take the keyboard (Ctrl-\\ gives it back)", act: () => { if (!byId("take", HTMLButtonElement).disabled) keyboard.take(); } },
  { key: "z", words: "the terminal’s letters in their own size", act: () => terminal.zoom() },
  { key: "<", words: "rewind to the command before", act: () => scrubber.step(-1) },
  { key: ">", words: "on to the next command", act: () => scrubber.step(1) },
  { key: "?", words: "these keys", act: () => byId("keys", HTMLDialogElement).showModal() },
]);

// begin

startDivider();

if (localStorage.getItem("vantage-list") === "closed") {
  document.body.classList.add("no-list");
  byId("list-toggle").setAttribute("aria-expanded", "false");
}
startTheme(() => {
  setTimeout(paintPalette); // few rows have colours of a palette: what everybody sees comes first
  terminal.paint();
});
await conversations.load();
startDisplay(link, timeline);
link.connect();
document.documentElement.dataset.ready = "true";
