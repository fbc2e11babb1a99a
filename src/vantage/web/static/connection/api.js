// HTTP: one function for every request. Errors carry the server's message and hint. Every request carries the session.
import { authorization, refused } from "./session.js";

/** A request that failed, with the server's message. */
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
 * @returns {Promise<Response>} an answer that is no refusal
 */
async function request(method, path, body) {
  const headers = authorization();
  if (!headers.Authorization) throw new Refused(401, "unauthorized", "this browser is not logged in", "");
  /** @type {RequestInit} */
  const how = { method, credentials: "omit", cache: "no-store", headers };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    how.body = JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(`/v1${path}`, how);
  } catch {
    throw new Refused(0, "unreachable", "the server does not answer", "the page connects again by itself");
  }
  if (answer.ok) return answer;
  if (answer.status === 401) refused(headers);
  const error = (await answer.json().catch(() => null))?.error ?? {};
  throw new Refused(answer.status, error.code ?? "", error.message ?? `the server answered ${answer.status}`, error.hint ?? "");
}

/**
 * @param {string} method
 * @param {string} path below /v1
 * @param {unknown} [body]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body) {
  return (await request(method, path, body)).json().catch(() => null);
}

/** What is no JSON, with the name that it has as a file. @param {string} path below /v1 */
export async function file(path) {
  const answer = await request("GET", path);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "";
  return { name, blob: await answer.blob() };
}

/** @param {string} id */
const conversation = (id) => `/conversations/${encodeURIComponent(id)}`;

export const api = {
  conversations: () => ask("GET", "/conversations"),
  /** @param {Record<string, unknown>} settings */
  create: (settings) => ask("POST", "/conversations", settings),
  /** @returns {Promise<import("../../types.d.ts").Description>} */
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
  /** The whole conversation as one page. @param {string} id */
  exported: (id) => file(`${conversation(id)}/export?format=html`),
  /** Answers a request, of which the page shows the content with this hash. @param {string} id @param {import("../../types.d.ts").Request} request @param {import("../../types.d.ts").Answer} answer */
  answer: (id, { request_id, hash }, answer) => ask("POST", `${conversation(id)}/requests/${encodeURIComponent(request_id)}/answer`, { ...answer, hash }),
  sessions: () => ask("GET", "/sessions"),
  /** @param {string} id */
  endSession: (id) => ask("DELETE", `/sessions/${encodeURIComponent(id)}`),
  /** @param {string} query @param {string} [id] */
  search: (query, id) => ask("GET", `/search?q=${encodeURIComponent(query)}${id ? `&conversation=${encodeURIComponent(id)}` : ""}`),
  /** @param {Record<string, unknown>} what */
  preview: (what) => ask("POST", "/preview", what),
};
