// Puts the page together: decides which conversation is shown, and passes the server's messages to its parts.
import { inTurn } from "../parts/async_order.js";
import { byId, drawIcons } from "../parts/dom.js";
import { notice, say, wordsOf } from "../parts/messages.js";
import { paintPalette } from "../parts/palette.js";
import { startTheme } from "../parts/theme.js";
import { api, Refused } from "../connection/api.js";
import { logOut, whenChanged } from "../connection/session.js";
import { clientId, Link } from "../connection/socket.js";
import { Navigation } from "../timeline/navigation.js";
import { RequestCards } from "../timeline/request_cards.js";
import { Rows } from "../timeline/rows.js";
import { Timeline } from "../timeline/timeline.js";
import { CommandList } from "../terminal/command_list.js";
import { Keyboard } from "../terminal/keyboard.js";
import { Scrubber } from "../terminal/scrubber.js";
import { SecretField } from "../terminal/secret_field.js";
import { Terminal } from "../terminal/terminal.js";
import { sayLink } from "./connection_state.js";
import { startConversationActions } from "./conversation_actions.js";
import { ConversationList, nameOf, showState } from "./conversation_list.js";
import { LoggedInBrowsers } from "./logged_in_browsers.js";
import { Notifications } from "./notifications.js";
import { startDivider } from "./pane_divider.js";
import { Panes } from "./panes.js";
import { startPresentation } from "./presentation.js";
import { SearchDialog } from "./search_dialog.js";
import { startShortcuts } from "./shortcuts.js";
import { chooseOne, emptyConversation, firstStart, notLoggedIn } from "./welcome.js";

/** @typedef {import("../../types.d.ts").Message} Message @typedef {import("../../types.d.ts").LinkState} LinkState */

drawIcons();

const link = new Link(await clientId(), { onState: showLink, onMessage: heard, denied });
const timeline = new Timeline(byId("timeline"), new RequestCards({ toSecret, toMoment }));
const navigation = new Navigation(timeline, { shown: () => shown, reveal: () => panes.show("timeline") });
const terminal = new Terminal();
const panes = new Panes({ changed: () => { timeline.refresh(); terminal.refresh(); }, hasTerminal: () => shown.id !== "" && !shown.missing });
const keyboard = new Keyboard(link, () => { if (!scrubber.live) scrubber.toLive(); });
const secret = new SecretField(keyboard);
const notify = new Notifications();
const commands = new CommandList({ show: (block) => navigation.toOutput(block), rewind: (block) => scrubber.toBlock(block), changed: () => { scrubber.survey(); terminal.lookBack(); } });
const scrubber = new Scrubber(terminal, commands);
const conversations = new ConversationList({ changed: listed, failed: (error) => { if (error instanceof Refused && error.status === 401) loggedOut(); } });
const search = new SearchDialog({ conversation: () => shown.id, nameOf: (id) => { const each = conversations.get(id); return each ? nameOf(each) : id; }, go: goToEvent });

/** @type {{ id: string, rows: Rows, state: import("../../types.d.ts").PtyState, started: boolean, told: number, missing: boolean, readStatus: () => Promise<void> }} */
const shown = { id: "", rows: new Rows(), state: {}, started: false, told: 0, missing: false, readStatus: async () => {} };
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
  else if (seq !== null) navigation.toSeq(seq);
}

/** To an event, also to the one that the address names already. @param {string} id @param {number} seq */
function goToEvent(id, seq) {
  const hash = `#c=${encodeURIComponent(id)}&seq=${seq}`;
  if (location.hash === hash) follow();
  else location.hash = hash;
}

/** @param {string} id @param {number | null} seq */
function open(id, seq) {
  if (shown.id) link.leave(shown.id);
  shown.id = id;
  shown.rows = new Rows();
  shown.readStatus = inTurn(() => lookForShell(id));
  shown.state = {};
  shown.started = shown.missing = false;
  const { rows } = shown;
  conversations.select(id);
  secret.state({}); // an answer that waits for the keyboard is of the conversation before
  keyboard.open(id);
  terminal.open(id);
  timeline.open(id, rows);
  navigation.open(seq);
  showExpanded();
  if (id) link.follow(id, () => ({ epoch: rows.epoch, after: rows.seq }));
  commands.open(id);
  scrubber.open(id);
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
    else if (kind === "empty") welcome.replaceChildren(emptyConversation(id, { terminal: () => { panes.show("terminal"); byId("start").hidden ? keyboard.take() : startShell(); } }));
    else if (kind === "choose") welcome.replaceChildren(chooseOne(id, { create, choose: () => panes.show("conversations") }));
    else welcome.replaceChildren();
  }
  welcome.hidden = !kind;
  byId("timeline").hidden = byId("timeline-head").hidden = !there || kind === "empty";
  for (const name of ["rename", "export", "close-shell", "delete", "state"]) byId(name).hidden = !there;
  panes.terminalIs(there);
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

/** @param {import("../../types.d.ts").Description[]} all */
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
  if (about && shown.missing) open(shown.id, address().seq); // it was made meanwhile
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
  const { hash } = location;
  try {
    const made = await making;
    await conversations.load();
    if (location.hash !== hash) return; // another one was opened meanwhile; the new one is in the list
    location.hash = `#c=${encodeURIComponent(made.id)}`;
    panes.show("timeline");
  } catch (error) {
    notice(wordsOf(error));
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
    if ((message.about === "input" || message.about === "take_keyboard") && (message.conversation_id ?? shown.id) === shown.id) {
      keyboard.refused();
      secret.refused();
    }
    return;
  }
  if (message.conversation_id !== shown.id) return;
  HANDLERS[message.type]?.(message);
}

/** @type {Record<string, (message: Message) => void>} */
const HANDLERS = {
  snapshot(message) {
    const { rows } = shown, otherLog = rows.source !== "" && rows.source !== message.epoch, go = navigation.afterSnapshot(otherLog);
    if (otherLog) { // rows of the same log, and the place that was found in them, stay
      rows.clear();
      timeline.open(shown.id, rows);
    }
    rows.takeSnapshot(/** @type {any} */ (message), timeline.width);
    if (message.screen) terminal.apply(message.screen);
    if (message.state) tell(message.state);
    commands.read();
    shown.readStatus();
    came();
    go?.();
  },
  resumed(message) {
    shown.rows.epoch = shown.rows.source = message.epoch;
    commands.read();
    shown.readStatus();
    came();
  },
  row(message) {
    const before = shown.rows.get(Number(message.row.id.slice(1)))?.outline.status;
    const { kind, status, tool, title: words } = message.row;
    if (tool === "terminal" && (status !== before || status !== "running")) commands.read();
    if (!shown.rows.hear(/** @type {any} */ (message), timeline.width)) return;
    if (kind === "request") tellRequest(message.row.request, words, status, before);
    else if (status !== before && (status === "ok" || status === "error")) say(`${words}: ${status === "ok" ? "done" : "failed"}`);
    else if (before === undefined && kind === "user") say("You said something");
    came();
  },
  screen_delta(message) {
    terminal.apply(/** @type {any} */ (message));
    if (!shown.started && message.raw_offset) shown.readStatus();
  },
  pty_state: (message) => tell(/** @type {import("../../types.d.ts").PtyState} */ (message)),
};

/**
 * The terminal's own notice tells of a secret.
 * @param {import("../../types.d.ts").Request | undefined} request @param {string} words @param {string} status @param {string | undefined} before
 */
function tellRequest(request, words, status, before) {
  if (status === before || request?.kind === "secret") return;
  say(words);
  if (status === "waiting") notify.tell("An answer is needed", words, `request ${shown.id}`);
}

function came() {
  timeline.refresh();
  frame();
}

const MODES = /** @type {Record<string, [string, string]>} */ ({
  idle: ["idle", "idle"], block_running: ["running", "running"], interactive: ["running", "interactive"], exited: ["ended", "no shell"],
});

/** A terminal is idle before its shell has started, too: whether one runs is asked for. @param {string} id */
async function lookForShell(id) {
  const { told, rows } = shown;
  const status = await api.pty(id, "status").catch(() => null);
  if (status === null || rows !== shown.rows) return;
  shown.started = status.pid !== null;
  if (told !== shown.told) shown.readStatus(); // a message came meanwhile: the answer may be older than the message
  else state({ ...shown.state, mode: status.mode, foreground: status.foreground, awaiting_secret: status.awaiting_secret, keyboard: status.keyboard });
}

/** Takes over a state that the server told unasked. @param {import("../../types.d.ts").PtyState} said */
function tell(said) {
  shown.told += 1;
  state(said);
}

/** @param {import("../../types.d.ts").PtyState} said */
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
  if (welcome.dataset.kind === "denied") return;
  welcome.replaceChildren(notLoggedIn());
  welcome.dataset.kind = "denied";
  welcome.hidden = false;
  for (const name of ["timeline", "timeline-head", "terminal-pane"]) byId(name).hidden = true;
}

/** Ends the session. What it showed is not kept in the page either. */
async function leave() {
  await logOut();
  location.reload();
}

async function startShell() {
  const { id } = shown;
  try {
    await keyboard.withoutMe(); // the server refuses the agent's verbs, and this is one, while a client has the keyboard
    if (id !== shown.id) return;
    await api.pty(id, "reset");
    if (id !== shown.id) return;
    await shown.readStatus();
    if (id === shown.id) keyboard.take();
  } catch (error) {
    notice(wordsOf(error));
  }
}

// hands

const showExpanded = () => {
  const { all } = timeline.openRows, button = byId("expand");
  button.setAttribute("aria-pressed", String(all));
  button.textContent = all ? "Collapse all" : "Expand all";
};
const expandAll = () => {
  timeline.toggleAll();
  showExpanded();
};

function toSecret() {
  panes.revealTerminal();
  byId("secret-field").focus();
}

/** The screen as it was when the terminal's output was so long. @param {number} offset */
function toMoment(offset) {
  panes.revealTerminal();
  scrubber.toOffset(offset);
}

byId("asks-answer").addEventListener("click", toSecret);
byId("link-now").addEventListener("click", () => link.wake());
byId("expand").addEventListener("click", expandAll);
byId("new").addEventListener("click", create);
byId("start").addEventListener("click", startShell);
byId("keys-open").addEventListener("click", () => { byId("menu").hidePopover(); byId("keys", HTMLDialogElement).showModal(); });
byId("log-out").addEventListener("click", leave);
new LoggedInBrowsers(leave);
whenChanged(() => location.reload());
startConversationActions({
  shown: () => ({ id: shown.id, name: conversations.get(shown.id)?.name ?? "" }),
  changed: () => conversations.load(),
  deleted: (id) => { if (address().id === id) location.hash = ""; },
});
addEventListener("hashchange", follow);
addEventListener("pagehide", () => { if (keyboard.mine) keyboard.giveBack(); });

startShortcuts([
  { key: "j", words: "next row", act: () => timeline.step(1) },
  { key: "k", words: "previous row", act: () => timeline.step(-1) },
  { key: "e", words: "expand the row, or collapse it", act: () => timeline.toggle() },
  { key: "E", words: "expand all rows, or collapse them", act: expandAll },
  { key: "c", words: "copy the row’s source", act: () => timeline.copy() },
  { key: "g", words: "first row", act: () => timeline.toStart() },
  { key: "G", words: "jump to latest", act: () => timeline.toEnd() },
  { key: "/", words: "search", act: () => search.start() },
  { key: "t", words: "show the terminal, or hide it", act: () => panes.foldTerminal() },
  { key: "b", words: "show the conversations, or hide them", act: () => panes.foldList() },
  { key: "i", words: "take the keyboard (Ctrl-\\ gives it back)", act: () => { if (!byId("take", HTMLButtonElement).disabled) keyboard.take(); } },
  { key: "z", words: "show the terminal at full size, or fitted", act: () => terminal.zoom() },
  { key: "<", words: "rewind to the previous command", act: () => scrubber.step(-1) },
  { key: ">", words: "go on to the next command", act: () => scrubber.step(1) },
  { key: "?", words: "these keys", act: () => byId("keys", HTMLDialogElement).showModal() },
]);

// begin

startDivider();

startTheme(() => {
  setTimeout(paintPalette); // few rows have colours of a palette: the first drawing does not wait for them
  terminal.paint();
});
await conversations.load();
startPresentation(link, timeline);
link.connect();
document.documentElement.dataset.ready = "true";
