// What the page shows without rows: how to connect an agent, and where to begin.
import { copyText } from "../parts/clipboard.js";
import { h, icon } from "../parts/dom.js";

/** @param {string} line */
function commandLine(line) {
  return h("div.command-line", null, h("code", { tabindex: 0 }, line),
    h("button.icon-button.quiet", { type: "button", title: "Copy", "aria-label": `Copy: ${line}`, onclick: () => copyText(line) }, icon("copy")));
}

const AGENTS = /** @type {[string, string][]} */ ([
  ["Claude Code", "vantage connect claude --write"],
  ["Codex", "vantage connect codex --write"],
  ["A script, or any shell", "vantage exec 'make test'"],
  ["An agent that already runs, from its JSON", "claude -p 'fix the tests' --output-format stream-json --verbose | vantage ingest"],
]);

/**
 * Before the first conversation.
 * @param {{ create: () => void, demo: (() => void) | null }} hands
 */
export function firstStart(hands) {
  return h("div.welcome", null,
    h("h2", null, "Nothing is running yet"),
    h("p", null, "Give an agent this terminal, and what it does appears here while it happens:"),
    ...AGENTS.flatMap(([name, line]) => [h("h3", null, name), commandLine(line)]),
    h("div.buttons", null,
      h("button.button.primary", { type: "button", onclick: hands.create }, "New conversation"),
      hands.demo && h("button.button", { type: "button", onclick: hands.demo }, "Run the demo")));
}

/**
 * None is chosen, or one that is not here.
 * @param {string} id @param {{ create: () => void, choose: () => void }} hands
 */
export function chooseOne(id, hands) {
  return h("div.welcome", null,
    h("h2", null, id ? "This conversation is not here" : "No conversation is chosen"),
    h("p", null, id ? `There is no conversation “${id}”: it was deleted, or is in another home.` : "Choose one from the list, or begin another."),
    h("div.buttons", null,
      h("button.button.primary.narrow-only", { type: "button", onclick: hands.choose }, "Choose a conversation"),
      h("button.button", { type: "button", onclick: hands.create }, "New conversation")));
}

/** A conversation in which nothing has happened. @param {string} id @param {{ terminal: () => void }} hands */
export function emptyConversation(id, hands) {
  return h("div.welcome", null,
    h("h2", null, "Nothing has happened here yet"),
    h("p", null, "What is run in this conversation’s terminal, and what its agent says, appears here."),
    h("h3", null, "Run something in it"), commandLine(`vantage exec ${id} -- make test`),
    h("h3", null, "Or let an agent have it"), commandLine(`claude mcp add vantage -- vantage mcp --conversation ${id}`),
    h("div.buttons", null, h("button.button.primary", { type: "button", onclick: hands.terminal }, "Type in its terminal")));
}

/** For a browser that is not logged in. */
export function notLoggedIn() {
  return h("div.welcome", null,
    h("h2", null, "This browser is not logged in"),
    h("p", null, "A link that works once logs it in. On the machine where the server runs:"),
    commandLine("vantage open"),
    h("div.buttons", null, h("a.button", { href: "/login" }, "Log in with a token"), h("button.button", { type: "button", onclick: () => location.reload() }, "Try again")));
}
