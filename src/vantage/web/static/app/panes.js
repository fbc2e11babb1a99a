// The three panes: the conversations, the timeline, the terminal. On a phone one is shown at a time; else two can be folded.
import { byId } from "../parts/dom.js";

const LIST_KEY = "vantage-list", TERMINAL_KEY = "vantage-terminal", CLOSED = "closed";

export class Panes {
  /** @param {{ changed: () => void, hasTerminal: () => boolean }} hands `changed`: a pane has another size */
  constructor(hands) {
    this.hands = hands;
    byId("list-toggle").addEventListener("click", () => this.foldList());
    byId("terminal-toggle").addEventListener("click", () => this.foldTerminal());
    for (const button of document.querySelectorAll("#switch button")) {
      button.addEventListener("click", () => this.show(/** @type {HTMLElement} */ (button).dataset.pane ?? "timeline"));
    }
    byId("conversation-list").addEventListener("click", (event) => { if (event.target instanceof Element && event.target.closest("a")) this.show("timeline"); });
    if (localStorage.getItem(LIST_KEY) === CLOSED) {
      document.body.classList.add("no-list");
      byId("list-toggle").setAttribute("aria-expanded", "false");
    }
  }

  /** On a phone there is one pane at a time. @param {string} name */
  show(name) {
    document.body.dataset.pane = name;
    for (const button of document.querySelectorAll("#switch button")) {
      if (/** @type {HTMLElement} */ (button).dataset.pane === name) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    this.hands.changed();
  }

  /** Whether there is a terminal to show, folded or not. @param {boolean} there */
  terminalIs(there) {
    byId("terminal-pane").hidden = !there;
    document.body.classList.toggle("no-terminal", !there || localStorage.getItem(TERMINAL_KEY) === CLOSED);
    /** @type {HTMLButtonElement} */ (document.querySelector("#switch [data-pane=terminal]")).disabled = !there;
    if (!there && document.body.dataset.pane === "terminal") this.show("timeline");
  }

  foldList() {
    this.fold("no-list", LIST_KEY, "list-toggle");
  }

  foldTerminal() {
    if (this.hands.hasTerminal()) this.fold("no-terminal", TERMINAL_KEY, "terminal-toggle");
  }

  /** Shows the terminal, folded or not. */
  revealTerminal() {
    if (document.body.classList.contains("no-terminal")) this.foldTerminal();
    this.show("terminal");
  }

  /** @param {string} name @param {string} key @param {string} button */
  fold(name, key, button) {
    const closed = document.body.classList.toggle(name);
    byId(button).setAttribute("aria-expanded", String(!closed));
    if (closed) localStorage.setItem(key, CLOSED);
    else localStorage.removeItem(key);
    this.hands.changed();
  }
}
