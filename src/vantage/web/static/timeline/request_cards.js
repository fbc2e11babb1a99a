// The cards of open requests: buttons for the options, fields for words and forms. A card is answered once: while an answer is
// on its way nothing of it can be pressed, and the row that comes back shows how the request ended.
import { fullTime } from "../parts/dates.js";
import { h } from "../parts/dom.js";
import { notice, say } from "../parts/messages.js";
import { api, Refused } from "../connection/api.js";
import { session } from "../connection/session.js";
import { answerFields } from "./request_fields.js";

/** @typedef {import("../../types.d.ts").Request} Request @typedef {import("../../types.d.ts").Option} Option @typedef {import("../../types.d.ts").Answer} Answer */
/** @typedef {{ toSecret: () => void, toMoment: (offset: number) => void }} Ways */

/** Why an answer was refused, by the error's code. @type {Record<string, string>} */
const REFUSED = {
  answered: "Another answer came first.",
  changed: "The question has changed since it was shown here: read it again, then answer.",
  closed: "The request is closed, so it takes no answer.",
  secret: "A secret is typed into the terminal’s own field.",
  forbidden: "This browser may only look.",
};
const SCOPES = /** @type {Record<string, string>} */ ({ session: "for this session", always: "from now on" });

export class RequestCards {
  /** @param {Ways} ways */
  constructor(ways) {
    this.ways = ways;
    this.conversation = "";
    /** What was typed stays when a row is drawn anew. @type {Map<string, HTMLElement>} */
    this.cards = new Map();
  }

  /** @param {string} conversation */
  open(conversation) {
    this.conversation = conversation;
    this.cards.clear();
  }

  /** Puts the card of an open request in the place of the list that the row has. @param {HTMLElement} row @param {Request} request */
  fill(row, request) {
    const place = row.querySelector(".v-block-request"), key = `${request.request_id} ${request.hash}`;
    if (request.state !== "open") this.cards.delete(key);
    if (!place || request.state !== "open") return;
    const card = this.cards.get(key) ?? this.made(request), focused = document.activeElement;
    const keeps = focused instanceof HTMLElement && card.contains(focused);
    this.cards.set(key, card);
    place.replaceChildren(card);
    if (keeps) queueMicrotask(() => focused.focus({ preventScroll: true })); // it was moved into the new row
  }

  /** @param {Request} request */
  made(request) {
    const { conversation } = this, said = h("p.request-said", { role: "status" });
    const card = h("form.request-card", { "aria-label": "Your answer" });
    const lock = (/** @type {boolean} */ locked) => {
      for (const part of card.querySelectorAll("button, input, select, textarea")) /** @type {HTMLButtonElement} */ (part).disabled = locked;
      card.setAttribute("aria-busy", String(locked));
    };
    const send = async (/** @type {Answer} */ answer) => {
      if (card.getAttribute("aria-busy") === "true") return;
      lock(true);
      said.textContent = "Sending…";
      try {
        await api.answer(conversation, request, answer);
        said.textContent = "Answered.";
        return;
      } catch (error) {
        said.textContent = inWords(error);
        if (!(error instanceof Refused && ["answered", "closed"].includes(error.code))) lock(false);
      }
      (card.isConnected ? say : notice)(said.textContent ?? ""); // it has gone where another answer came first
    };
    card.addEventListener("submit", (event) => event.preventDefault());
    card.append(...(request.kind === "secret" ? [this.secretButton()] : answerParts(request, send)), ...this.around(request), said);
    if (session()?.scope !== "full") {
      lock(true);
      said.textContent = "This browser may only look. Log in with a full token to answer.";
    }
    return card;
  }

  secretButton() {
    return h("div.request-options", null, h("button.button.primary", { type: "button", onclick: () => this.ways.toSecret() }, "Type it in the terminal’s field"));
  }

  /** Until when it can be answered, and the way to the screen as it was. @param {Request} request */
  around({ expires, screen_offset: offset }) {
    return [
      offset === undefined ? null : h("button.button.quiet", { type: "button", onclick: () => this.ways.toMoment(offset) }, "The terminal when it was asked"),
      expires ? h("p.hint", null, `Can be answered until ${fullTime(expires)}.`) : null,
    ].filter((part) => part !== null);
  }
}

/** @param {unknown} error */
function inWords(error) {
  if (!(error instanceof Refused)) return String(error);
  const words = REFUSED[error.code];
  return words ? `${words} (${error.message})` : `${error.message}. Nothing was answered.`;
}

/**
 * What is pressed and typed to answer.
 * @param {Request} request
 * @param {(answer: Answer) => void} send
 */
function answerParts(request, send) {
  const options = request.options ?? [], form = request.schema !== undefined, fields = answerFields(request);
  const words = h("textarea.area", { rows: 2, "aria-label": "Your words" });
  const text = () => /** @type {HTMLTextAreaElement} */ (words).value.trim();
  /** @param {Option} [option] */
  const answer = (option) => {
    /** @type {Answer} */
    const given = option ? { option: option.id } : {};
    if (option?.needs_text || (!option && !form)) {
      if (!text()) {
        words.focus();
        return;
      }
      given.text = text();
    }
    if (form && option?.kind !== "deny") {
      const values = fields.read();
      if (values === undefined) return;
      given.values = values;
    }
    send(given);
  };
  const buttons = options.map((option) => optionButton(option, () => answer(option)));
  if (!options.length) buttons.push(h("button.button.primary", { type: "button", onclick: () => answer() }, "Send the answer"));
  const wordy = options.filter((option) => option.needs_text);
  if (options.length) words.setAttribute("aria-label", `Words for “${wordy.map((option) => option.label).join("”, “")}”`);
  if (options.length) words.setAttribute("placeholder", `Needed for “${wordy.map((option) => option.label).join("”, “")}”`);
  return [...fields.parts, wordy.length || (!options.length && !form) ? words : null, h("div.request-options", null, ...buttons)].filter((part) => part !== null);
}

/** @param {Option} option @param {() => void} press */
function optionButton(option, press) {
  const scope = SCOPES[option.scope ?? ""];
  return h(`button.button.request-${option.kind}`, { type: "button", "data-option": option.id, onclick: press },
    option.label, scope ? h("span.hint", null, ` ${scope}`) : null);
}
