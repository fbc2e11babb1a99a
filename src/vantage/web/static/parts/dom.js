// Makes and finds elements. Only `markup` turns a string into elements: rows, which the server drew inert.
import { ICONS } from "./icons.js";

/**
 * An element: `h("button.primary", { type: "button", onclick: go }, "Go")`. Names with `on` are listeners, values of
 * `true` are empty attributes, `null`, `undefined` and `false` are left out.
 * @param {string} what tag, with classes
 * @param {Record<string, any> | null} [properties]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(what, properties, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/**
 * The element of the page with an id.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [kind]
 * @returns {T}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!found || (kind && !(found instanceof kind))) throw new Error(`the page has no ${kind?.name ?? "element"} #${id}`);
  return /** @type {T} */ (found);
}

const policy = window.trustedTypes?.createPolicy("vantage", { createHTML: (text) => text });

/**
 * Markup that the server drew, not yet part of the page: nothing in it is fetched.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function markup(html) {
  const template = document.createElement("template");
  template.innerHTML = policy ? policy.createHTML(html) : html;
  return template.content;
}

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} d what the path's `d` says */
export function drawing(d) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}

/** @param {string} name of the vocabulary that rows use too */
export function icon(name) {
  return drawing(ICONS[name] ?? ICONS.dot ?? "");
}

/** Draws the icons that the page's markup asks for. */
export function drawIcons() {
  for (const element of document.querySelectorAll("[data-icon]")) {
    element.prepend(icon(/** @type {HTMLElement} */ (element).dataset.icon ?? ""));
  }
}
