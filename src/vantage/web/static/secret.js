// A program asks for a secret: a field whose content goes to the program and nowhere else.
import { byId, notice } from "./dom.js";

/** Somebody writes something else: half of it must not land in the field. */
function typesElsewhere() {
  const where = document.activeElement;
  return document.querySelector("dialog[open]") !== null || (where?.id !== "typing" && where?.matches("input:not([type=radio], [type=checkbox], [type=range]), textarea, select") === true);
}

export class Secret {
  /** @param {import("./keyboard.js").Keyboard} keyboard */
  constructor(keyboard) {
    this.keyboard = keyboard;
    this.asked = false;
    /** The field's content waits here for the moment the keyboard takes to become ours. @type {(() => void) | null} */
    this.whenMine = null;
    byId("secret").addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer();
    });
  }

  /** @param {import("../types.d.ts").PtyState} state */
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
    byId("asks").hidden = !asked;
    if (asked) byId("secret-who").textContent = byId("asks-word").textContent = `${state.foreground || "A program"} asks for a secret.`;
    if (this.keyboard.mine && this.whenMine) this.whenMine();
  }

  /** Whoever typed there goes on typing where the keys belong. */
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
      notice("Somebody else has the keyboard: it must be given back first.");
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
