// This browser's session. It is kept in the storage of the page's origin, which no other port of the host shares, and the
// page sends it itself: a browser sends nothing by itself that authenticates.

const KEY = "vantage-session";

/** @typedef {{ token: string, id: string, device: string, scope: string, expires: number }} Session */

/** @returns {Session | null} */
export function session() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return typeof kept?.token === "string" ? kept : null;
  } catch {
    return null; // no session of ours, or no storage
  }
}

/** The session's header, for whatever is fetched. @returns {Record<string, string>} */
export function authorization() {
  const kept = session();
  return kept ? { Authorization: `Bearer ${kept.token}` } : {};
}

/** The server does not know a session any more. Another one, of a login in another tab, stays. @param {Record<string, string>} headers that were sent */
export function refused(headers) {
  if (headers.Authorization && headers.Authorization === authorization().Authorization) localStorage.removeItem(KEY);
}

/**
 * Exchanges the secret of a one-time link, or a token, for a session.
 * @param {Record<string, string>} fields
 * @returns {Promise<string>} what went wrong; nothing when it went well
 */
export async function logIn(fields) {
  const before = authorization();
  let answer, said;
  try {
    answer = await fetch("/login", { method: "POST", credentials: "omit", body: JSON.stringify(fields) });
    said = await answer.json();
  } catch {
    return "The server cannot be reached.";
  }
  if (!answer.ok) {
    const words = answer.status === 401 ? said.error.message : [said.error.message, said.error.hint].filter(Boolean).join(": ");
    return `${words[0].toUpperCase()}${words.slice(1)}.`;
  }
  const { token, id, device, scope, expires } = said;
  try {
    localStorage.setItem(KEY, JSON.stringify({ token, id, device, scope, expires }));
  } catch {
    await end({ Authorization: `Bearer ${token}` });
    return "This browser keeps nothing for this page: allow it to store data, and log in again.";
  }
  if (before.Authorization) await end(before);
  return "";
}

/** Ends the session, here and on the server. */
export async function logOut() {
  const headers = authorization();
  localStorage.removeItem(KEY);
  if (headers.Authorization) await end(headers);
}

/** @param {Record<string, string>} headers */
async function end(headers) {
  await fetch("/login", { method: "DELETE", credentials: "omit", keepalive: true, headers }).catch(() => null);
}

/** Calls `act` when another tab has logged in or out. @param {() => void} act */
export function whenChanged(act) {
  const id = session()?.id;
  addEventListener("storage", () => { if (session()?.id !== id) act(); });
}
