// Exchanges the secret of a one-time link for a cookie. The secret stands behind the #, which browsers send nowhere;
// it leaves the address and the history at once.

const secret = location.hash.slice(1);
history.replaceState(null, "", "/login");

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * @param {Record<string, string>} fields
 * @returns {Promise<string>} what went wrong; nothing when it went well
 */
async function logIn(fields) {
  try {
    const answer = await fetch("/login", { method: "POST", body: JSON.stringify(fields) });
    if (answer.ok) {
      location.replace("/");
      return "";
    }
    const { error } = await answer.json();
    return `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
  } catch {
    return "The server cannot be reached.";
  }
}

async function isInside() {
  try {
    return (await fetch("/v1/tools")).ok;
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
  const wrong = await logIn({ token: field.value.trim() });
  if (wrong) {
    field.value = "";
    askFor(wrong);
  }
});

part("out").addEventListener("click", async () => {
  await fetch("/login", { method: "DELETE" });
  part("inside").hidden = true;
  askFor("You are logged out.");
});

const wrong = secret ? await logIn({ secret }) : "";
if (!secret || wrong) {
  if (!(await isInside())) askFor(wrong || "Log in to see what the agents do.");
  else if (secret) location.replace("/"); // a link that was used before, in a browser that is logged in
  else {
    part("said").textContent = "You are logged in.";
    part("inside").hidden = false;
  }
}
