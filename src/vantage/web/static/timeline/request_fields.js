// The fields of a request's form: one for each plain value of its schema, or one for JSON where the schema has other values.
import { h } from "../parts/dom.js";

/** @typedef {import("../../types.d.ts").Request} Request @typedef {import("../../types.d.ts").Field} Field */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */
/** @typedef {{ parts: HTMLElement[], read: () => unknown }} Fields `read`: the values, or undefined when a field must be filled in first */

/** @param {Request} request @returns {Fields} */
export function answerFields({ schema, fields = [] }) {
  if (schema === undefined) return { parts: [], read: () => undefined };
  return fields.length ? plainFields(fields) : jsonField();
}

/** @param {Field[]} fields @returns {Fields} */
function plainFields(fields) {
  const controls = fields.map((field) => ({ field, control: controlOf(field) }));
  return {
    parts: controls.map(({ field, control }) => h(`label.request-field${field.type === "boolean" ? ".request-check" : ""}`, null,
      h("span", null, field.title, field.required ? h("span.hint", null, " required") : null), control,
      field.description ? h("span.hint", null, field.description) : null)),
    read() {
      if (controls.some(({ control }) => !control.reportValidity())) return undefined;
      const filled = controls.filter(({ field, control }) => field.type === "boolean" || control.value !== "");
      return Object.fromEntries(filled.map(({ field, control }) => [field.name, valueOf(field, control)]));
    },
  };
}

/** @param {Field} field @returns {Control} */
function controlOf(field) {
  const { type, choices, required, default: value } = field;
  if (choices?.length) {
    const none = h("option", { value: "" }, "—");
    const options = choices.map((choice) => h("option", { value: choice.value, selected: choice.value === value }, choice.label));
    return /** @type {HTMLSelectElement} */ (h("select", { required }, none, ...options));
  }
  if (type === "boolean") return /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: value === true }));
  const number = type === "integer" || type === "number";
  return /** @type {HTMLInputElement} */ (h("input", { type: number ? "number" : "text", step: type === "number" ? "any" : null, value, required, autocomplete: "off" }));
}

/** @param {Field} field @param {Control} control */
function valueOf(field, control) {
  if (field.type === "boolean") return /** @type {HTMLInputElement} */ (control).checked;
  return field.type === "string" ? control.value : Number(control.value);
}

/** @returns {Fields} */
function jsonField() {
  const area = /** @type {HTMLTextAreaElement} */ (h("textarea.area", { rows: 4, spellcheck: "false", required: true, oninput: () => area.setCustomValidity("") }));
  return {
    parts: [h("label.request-field", null, h("span", null, "The answer as JSON"), area)],
    read() {
      try {
        return JSON.parse(area.value);
      } catch (error) {
        area.setCustomValidity(`This is no JSON: ${error instanceof Error ? error.message : error}`);
        area.reportValidity();
        return undefined;
      }
    },
  };
}
