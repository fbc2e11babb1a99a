// A program asks for a secret: a field whose content goes to the program and nowhere else.
import { byId } from "../parts/dom.js";
import { takesText } from "../parts/focus.js";
import { notice } from "../parts/messages.js";

/** Whether another field takes what is typed now: the rest of it must not land in the secret's field. */
function typesElsewhere() {
  const where = document.activeElement;
  return document.querySelector("dialog[open]") !== null || (where?.id !== "typing" && takesText(where));
}

export class SecretField {
  /** @param {import("./keyboard.js").Keyboard} keyboard */
  constructor(keyboard) {
    this.keyboard = keyboard;
    this.asked = false;
    /** Sends the field's content once the keyboard is this page's. @type {(() => void) | null} */
    this.whenMine = null;
    byId("secret").addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer();
    });
  }

  /** @param {import("../../types.d.ts").PtyState} state */
  state(state) {
    const asked = state.awaiting_secret === true, form = byId("secret");
    if (asked !== this.asked) {
      const field = byId("secret-field", HTMLInputElement), left = form.contains(document.activeElement);
      this.asked = asked;
      form.hidden = !asked;
      field.value = "";
      if (asked && !typesElsewhere()) field.focus({ preventScroll: true });
      if (!asked && left) this.leave();
    }
    if (!asked && this.whenMine) { // its program is gone: the answer must not reach another one
      this.whenMine = null;
      this.keyboard.giveBack();
    }
    byId("asks").hidden = !asked;
    if (asked) byId("secret-who").textContent = byId("asks-word").textContent = `${state.foreground || "A program"} asks for a secret.`;
    if (this.keyboard.mine && this.whenMine) this.whenMine();
  }

  /** The keyboard could not be taken: the answer stays in its field. */
  refused() {
    this.whenMine = null;
  }

  /** The focus leaves the field for the terminal. */
  leave() {
    const { keyboard } = this;
    if (keyboard.mine) keyboard.area.focus({ preventScroll: true });
    else byId("view").focus({ preventScroll: true });
  }

  answer() {
    const field = byId("secret-field", HTMLInputElement), { keyboard } = this;
    const send = (/** @type {string} */ value) => keyboard.send({ data: `${value}\n`, secret: true });
    if (keyboard.mine) {
      send(field.value);
      field.value = "";
      return;
    }
    if (keyboard.holder !== "agent") {
      notice("Another client has the keyboard: it must be given back first.");
      return;
    }
    this.whenMine = () => {
      this.whenMine = null;
      send(field.value);
      field.value = "";
      keyboard.giveBack();
    };
    keyboard.take();
    keyboard.wanted = false;
  }
}
