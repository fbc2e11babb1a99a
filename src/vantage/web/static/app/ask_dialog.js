// A dialog that asks for a name or for a confirmation.
import { byId } from "../parts/dom.js";

/**
 * @param {{ head: string, words?: string, yes: string, value?: string }} question with a value: a text is asked for
 * @returns {Promise<string | null>} what was typed (or "yes"); nothing when it was not meant
 */
export function askPerson({ head, words = "", yes, value }) {
  const dialog = byId("ask", HTMLDialogElement), field = byId("ask-field", HTMLInputElement);
  byId("ask-head").textContent = head;
  byId("ask-word").textContent = words;
  byId("ask-yes").textContent = yes;
  byId("ask-field-row").hidden = value === undefined;
  field.value = value ?? "";
  dialog.returnValue = "no";
  dialog.showModal();
  (value === undefined ? byId("ask-yes") : field).focus();
  field.select();
  return new Promise((resolve) => {
    const typing = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      dialog.close("yes");
    };
    field.addEventListener("keydown", typing);
    dialog.addEventListener("close", () => {
      field.removeEventListener("keydown", typing);
      resolve(dialog.returnValue !== "yes" ? null : value === undefined ? "yes" : field.value.trim());
    }, { once: true });
  });
}
