// The browsers that are logged in: which they are, since when, until when; each can be logged out.
import { dateOf, fullTime, sinceThen } from "../parts/dates.js";
import { byId, h } from "../parts/dom.js";
import { notice, wordsOf } from "../parts/messages.js";
import { api } from "../connection/api.js";

/** @typedef {{ id: string, device: string, scope: string, created: number, expires: number, current: boolean }} Session */

export class LoggedInBrowsers {
  /** @param {() => void} leave logs this browser out */
  constructor(leave) {
    this.leave = leave;
    this.dialog = byId("sessions", HTMLDialogElement);
    byId("sessions-open").addEventListener("click", () => {
      byId("menu").hidePopover();
      this.open();
    });
  }

  async open() {
    if (await this.load() && !this.dialog.open) this.dialog.showModal();
  }

  async load() {
    try {
      /** @type {Session[]} */
      const all = (await api.sessions()).sessions;
      byId("sessions-list").replaceChildren(...all.reverse().map((each) => this.item(each)));
      return true;
    } catch (error) {
      notice(wordsOf(error));
      return false;
    }
  }

  /** @param {Session} each */
  item(each) {
    const rights = each.scope === "read" ? ", may only watch" : "";
    return h("li", null,
      h("div", null,
        h("strong", null, each.device), each.current ? h("span.here", null, "this browser") : null,
        h("small", null, `logged in ${sinceThen(each.created)}, until ${dateOf(each.expires)}${rights}`)),
      h("button.button", { type: "button", "aria-label": `Log out ${each.device}, logged in ${fullTime(each.created)}`, onclick: () => this.end(each) }, "Log out"));
  }

  /** @param {Session} each */
  async end(each) {
    if (each.current) {
      this.dialog.close();
      this.leave();
      return;
    }
    await api.endSession(each.id).catch((error) => notice(wordsOf(error)));
    await this.load();
  }
}
