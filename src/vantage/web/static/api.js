// HTTP: one function for every question, and errors that say the way out.

/** What the server refused, in its own words. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {string} hint */
  constructor(status, code, message, hint) {
    super(hint ? `${message}: ${hint}` : message);
    this.status = status;
    this.code = code;
  }
}

/**
 * @param {string} method
 * @param {string} path below /v1
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body) {
  /** @type {RequestInit} */
  const request = { method, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) {
    request.headers = { "Content-Type": "application/json" };
    request.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(`/v1${path}`, request);
  } catch {
    throw new Refused(0, "unreachable", "the server does not answer", "it is tried again by itself");
  }
  const value = await answer.json().catch(() => null);
  if (answer.ok && value?.ok !== false) return value;
  const error = value?.error ?? {};
  throw new Refused(answer.status, error.code ?? "", error.message ?? `the server answered ${answer.status}`, error.hint ?? "");
}

/** @param {string} id */
const conversation = (id) => `/conversations/${encodeURIComponent(id)}`;

export const api = {
  conversations: () => ask("GET", "/conversations"),
  /** @param {Record<string, unknown>} settings */
  create: (settings) => ask("POST", "/conversations", settings),
  /** @returns {Promise<import("../types.d.ts").Description>} */
  demo: () => ask("POST", "/demo", {}),
  /** @param {string} id @param {string} name */
  rename: (id, name) => ask("PATCH", conversation(id), { name }),
  /** @param {string} id */
  close: (id) => ask("POST", `${conversation(id)}/close`),
  /** @param {string} id */
  remove: (id) => ask("DELETE", conversation(id)),
  /**
   * Rows that began before an event, the last ones of them.
   * @param {string} id @param {number} before @param {number} limit @param {number} width
   */
  rows: (id, before, limit, width) => ask("GET", `${conversation(id)}/rows?surface=html&width=${width}&before=${before}&limit=${limit}`),
  /** A row with its blocks. @param {string} id @param {string} row */
  row: (id, row) => ask("GET", `${conversation(id)}/rows/${encodeURIComponent(row)}?surface=plain`),
  /** A verb of the terminal. @param {string} id @param {string} verb @param {Record<string, unknown>} [fields] */
  pty: (id, verb, fields) => ask("POST", `${conversation(id)}/pty/${verb}`, fields ?? {}),
  /** @param {string} query @param {string} [id] */
  search: (query, id) => ask("GET", `/search?q=${encodeURIComponent(query)}${id ? `&conversation=${encodeURIComponent(id)}` : ""}`),
  /** @param {Record<string, unknown>} what */
  preview: (what) => ask("POST", "/preview", what),
};
