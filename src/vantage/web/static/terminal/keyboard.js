// The keyboard: taken and given back on purpose. While this page has it, what is typed goes to the terminal.
import { byId, h } from "../parts/dom.js";
import { canMoveFocus } from "../parts/focus.js";
import { notice, say } from "../parts/messages.js";

/** @typedef {import("../connection/socket.js").Link} Link */

const NAMED = new Set(["Enter", "Tab", "Escape", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"]);
const ARROWS = new Map([["ArrowUp", "Up"], ["ArrowDown", "Down"], ["ArrowLeft", "Left"], ["ArrowRight", "Right"]]);

/** @type {[string, string, string?][]} what the touch keys say, what they send, how those are called that have no letters */
const TOUCH = [
  ["esc", "Escape"], ["tab", "Tab"], ["ctrl", "C-"], ["alt", "Alt-"], ["←", "Left", "Left"], ["↑", "Up", "Up"], ["↓", "Down", "Down"],
  ["→", "Right", "Right"], ["enter", "Enter"], ["⌫", "Backspace", "Backspace"], ["^C", "C-c"], ["^D", "C-d"], ["^\\", "C-\\"], ["/", "/"], ["|", "|"], ["-", "-"], ["~", "~"],
  ["home", "Home"], ["end", "End"], ["pgup", "PageUp"], ["pgdn", "PageDown"], ["paste", "paste"],
];

/**
 * The name of a key as the server knows it, or nothing for what is left to the browser.
 * @param {{ key: string, ctrlKey: boolean, altKey: boolean, shiftKey: boolean, metaKey: boolean }} event
 */
export function keyName(event) {
  const { key } = event;
  if (event.metaKey) return null;
  const paste = (event.ctrlKey && event.shiftKey && /^[cv]$/i.test(key)) || (event.shiftKey && key === "Insert");
  if (paste) return null;
  const name = NAMED.has(key) || /^F\d{1,2}$/.test(key) ? key : ARROWS.get(key);
  const modifiers = (event.ctrlKey ? "C-" : "") + (event.altKey ? "Alt-" : "");
  if (name) return modifiers + (event.shiftKey ? "S-" : "") + name;
  if ([...key].length !== 1 || !modifiers) return null;
  return modifiers + (key === " " ? "Space" : event.ctrlKey ? key.toLowerCase() : key);
}

export class Keyboard {
  /** @param {Link} link @param {() => void} toNow shows the live screen: typing is never blind */
  constructor(link, toNow) {
    this.link = link;
    this.toNow = toNow;
    this.conversation = "";
    this.mine = false;
    this.holder = "agent";
    this.alive = false;
    /** Whether the terminal's field takes the focus once the keyboard is ours. */
    this.wanted = false;
    /** Whether the server was asked for the keyboard and has not answered. */
    this.asked = false;
    /** What had the focus when the keyboard was asked for. @type {Element | null} */
    this.from = null;
    /** @type {((value: unknown) => void) | null} */
    this.given = null;
    /** Control and Alt of the touch keys, until the next key. */
    this.sticky = new Set();
    this.area = byId("typing", HTMLTextAreaElement);
    this.pane = byId("terminal-pane");
    byId("take").addEventListener("click", () => this.mine ? this.giveBack() : this.take());
    byId("view").addEventListener("click", () => { if (this.mine && getSelection()?.isCollapsed) this.area.focus({ preventScroll: true }); });
    this.area.addEventListener("keydown", (event) => this.pressed(event));
    this.area.addEventListener("input", (event) => { if (!(event instanceof InputEvent && event.isComposing)) this.typed(); });
    this.area.addEventListener("compositionend", () => this.typed());
    this.area.addEventListener("paste", (event) => {
      event.preventDefault();
      this.paste(event.clipboardData?.getData("text/plain") ?? "");
    });
    byId("keys-row").append(...TOUCH.map(([word, sends, label]) =>
      h("button", { type: "button", tabindex: -1, "aria-label": label, "aria-pressed": sends.endsWith("-") && sends.length > 1 ? "false" : null, "data-key": sends }, word)));
    byId("keys-row").addEventListener("pointerdown", (event) => event.preventDefault()); // the phone's keyboard stays up
    byId("keys-row").addEventListener("click", (event) => {
      const key = event.target instanceof HTMLElement ? event.target.closest("[data-key]") : null;
      if (key) this.touched(/** @type {HTMLElement} */ (key));
    });
  }

  /** @param {string} conversation */
  open(conversation) {
    if (this.mine || this.asked) this.giveBack();
    this.conversation = conversation;
    this.state({ keyboard: "agent" });
  }

  take() {
    this.wanted = true;
    this.from = document.activeElement;
    this.asked = this.link.send({ type: "take_keyboard", conversation_id: this.conversation });
    if (!this.asked) notice("The server does not answer: the keyboard can be taken when it does.");
  }

  /** @returns {boolean} whether the server could be told */
  giveBack() {
    this.wanted = this.asked = false;
    return this.link.send({ type: "release_keyboard", conversation_id: this.conversation });
  }

  /** The server refused the keyboard, or what was typed. */
  refused() {
    this.wanted = this.asked = false;
  }

  /** Gives the keyboard back; done once it is not ours. */
  async withoutMe() {
    if (!this.mine) return;
    if (!this.giveBack()) throw new Error("The server does not answer: the keyboard cannot be given back now.");
    await new Promise((resolve) => { this.given = resolve; });
  }

  /** Takes over the holder that the server tells. @param {import("../../types.d.ts").PtyState} state */
  state(state) {
    const before = this.mine, typing = document.activeElement === this.area;
    this.holder = state.keyboard ?? "agent";
    this.alive = state.mode !== undefined && state.mode !== "exited";
    this.mine = this.holder === `client:${this.link.clientId}`;
    this.pane.classList.toggle("mine", this.mine);
    byId("take").setAttribute("aria-pressed", String(this.mine));
    byId("take-word").textContent = this.mine ? "Give the keyboard back" : "Take the keyboard";
    const other = !this.mine && this.holder !== "agent";
    /** @type {HTMLButtonElement} */ (byId("take")).disabled = other || (!this.alive && !this.mine);
    byId("start").hidden = this.alive || !this.conversation;
    byId("hands-word").textContent = this.mine ? "Yours: the agent’s input is refused. Ctrl-\\ gives it back."
      : other ? `${this.holder.replace(/^client:/, "")} has the keyboard.` : this.alive ? "The agent has the keyboard." : "No shell runs here.";
    byId("keys-row").hidden = !this.mine;
    this.area.hidden = !this.mine;
    if (this.mine && !before) {
      this.asked = false;
      this.toNow();
      if (this.wanted && canMoveFocus(this.from, this.pane)) this.area.focus({ preventScroll: true });
      say("The keyboard is yours. Control backslash gives it back.");
    }
    if (!this.mine && before) {
      this.given?.(null);
      if (typing) byId("take").focus({ preventScroll: true });
      say("The keyboard was given back.");
    }
  }

  /** @param {Record<string, unknown>} what */
  send(what) {
    this.toNow();
    if (!this.link.send({ type: "input", conversation_id: this.conversation, ...what })) notice("The server does not answer: nothing was typed.");
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    if (event.isComposing || event.key === "Process") return;
    if (event.ctrlKey && event.key === "\\") {
      event.preventDefault();
      this.giveBack();
      return;
    }
    const name = keyName(event);
    if (!name) return;
    event.preventDefault();
    event.stopPropagation();
    this.typed();
    this.send({ keys: [this.modified(name)] });
  }

  /** What the browser put into the field: characters, words of an input method, dictation. */
  typed() {
    const text = this.area.value;
    if (!text) return;
    this.area.value = "";
    const [first = "", ...rest] = text;
    if (this.sticky.size) {
      this.send({ keys: [this.modified(first === " " ? "Space" : first.toLowerCase())] });
      if (rest.length) this.send({ data: rest.join("") });
    } else if (text.includes("\n") && text.length > 1) this.paste(text);
    else if (text === "\n") this.send({ keys: ["Enter"] });
    else this.send({ data: text });
  }

  /** @param {string} text */
  paste(text) {
    if (text) this.send({ data: text, paste: true });
  }

  /** A key with the modifiers that were touched before it. @param {string} name */
  modified(name) {
    const made = [...this.sticky].join("") + name;
    this.sticky.clear();
    for (const key of byId("keys-row").querySelectorAll("[aria-pressed]")) key.setAttribute("aria-pressed", "false");
    return made;
  }

  /** @param {HTMLElement} button */
  async touched(button) {
    const key = button.dataset.key ?? "";
    if (key === "paste") {
      try {
        this.paste(await navigator.clipboard.readText());
      } catch {
        notice("The browser does not allow reading the clipboard: paste with its own menu.");
      }
    } else if (button.hasAttribute("aria-pressed")) {
      const on = !this.sticky.delete(key);
      if (on) this.sticky.add(key);
      button.setAttribute("aria-pressed", String(on));
    } else this.send({ keys: [this.modified(key)] });
    this.area.focus({ preventScroll: true });
  }
}
