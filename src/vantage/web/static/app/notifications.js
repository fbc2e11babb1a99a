// Notifications, if they are switched on and the page is hidden.
import { byId } from "../parts/dom.js";
import { notice } from "../parts/messages.js";

const KEY = "vantage-notify";

export class Notifications {
  constructor() {
    const box = byId("notify", HTMLInputElement);
    box.disabled = !("Notification" in window);
    box.checked = !box.disabled && localStorage.getItem(KEY) === "yes" && Notification.permission === "granted";
    box.addEventListener("change", async () => {
      if (box.checked && await Notification.requestPermission() !== "granted") {
        box.checked = false;
        notice("The browser does not allow notifications of this page: its settings do.");
      }
      if (box.checked) localStorage.setItem(KEY, "yes");
      else localStorage.removeItem(KEY);
    });
    this.box = box;
  }

  /**
   * @param {string} title
   * @param {string} body
   * @param {string} tag a later one with the same tag replaces it
   */
  tell(title, body, tag) {
    if (!this.box.checked || !document.hidden) return;
    const told = new Notification(title, { body, tag });
    told.addEventListener("click", () => {
      focus();
      told.close();
    });
  }
}
