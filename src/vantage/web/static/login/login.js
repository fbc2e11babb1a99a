// Logs in with the secret of a one-time link. The secret is in the fragment of the address, which browsers do not send;
// it is removed from the address and the history at once.
import { authorization, logIn, logOut } from "../connection/session.js";

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * @param {Record<string, string>} fields
 * @returns {Promise<string>} what went wrong; nothing when the page is on its way
 */
async function enter(fields) {
  const wrong = await logIn(fields);
  if (!wrong) location.replace("/");
  return wrong;
}

async function isInside() {
  const headers = authorization();
  if (!headers.Authorization) return false;
  try {
    return (await fetch("/v1/tools", { credentials: "omit", headers })).ok;
  } catch {
    return false;
  }
}

/** @param {string} message */
function askFor(message) {
  part("said").textContent = message;
  part("form").hidden = part("way").hidden = false;
  part("token").focus();
}

part("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (part("token"));
  const wrong = await enter({ token: field.value.trim() });
  if (wrong) {
    field.value = "";
    askFor(wrong);
  }
});

part("out").addEventListener("click", async () => {
  await logOut();
  part("inside").hidden = true;
  askFor("You are logged out.");
});

async function begin() {
  const secret = location.hash.slice(1);
  history.replaceState(null, "", "/login");
  const wrong = secret ? await enter({ secret }) : "";
  if (secret && !wrong) return;
  if (!(await isInside())) askFor(wrong || "Log in to see what the agents do.");
  else if (secret) location.replace("/"); // a link that was used before, in a browser that is logged in
  else {
    part("said").textContent = "You are logged in.";
    part("inside").hidden = false;
  }
}

addEventListener("hashchange", begin); // a link that is opened where this page is shown already
await begin();
