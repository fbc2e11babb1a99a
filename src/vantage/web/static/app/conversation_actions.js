// What can be done with the conversation that is shown: rename it, export it, end its shell, delete it.
import { byId, h } from "../parts/dom.js";
import { notice, wordsOf } from "../parts/messages.js";
import { api } from "../connection/api.js";
import { askPerson } from "./ask_dialog.js";

const KEPT_MS = 60_000; // by then the browser has taken the file

/** @param {{ shown: () => { id: string, name: string }, changed: () => void, deleted: (id: string) => void }} hands */
export function startConversationActions(hands) {
  byId("rename").addEventListener("click", async () => {
    const { id, name: value } = hands.shown(), name = await askPerson({ head: "Rename this conversation", yes: "Rename", value });
    if (name === null) return;
    await api.rename(id, name).catch((error) => notice(wordsOf(error)));
    hands.changed();
  });
  byId("export").addEventListener("click", async () => {
    byId("menu").hidePopover();
    notice("The export is being made.");
    try {
      const { name, blob } = await api.exported(hands.shown().id), address = URL.createObjectURL(blob);
      h("a", { href: address, download: name || "conversation.html" }).click();
      setTimeout(() => URL.revokeObjectURL(address), KEPT_MS);
    } catch (error) {
      notice(wordsOf(error));
    }
  });
  byId("close-shell").addEventListener("click", async () => {
    byId("menu").hidePopover();
    const { id } = hands.shown();
    if (await askPerson({ head: "End the shell?", words: "The programs that run in it are ended too. The conversation stays.", yes: "End it" })) {
      await api.close(id).catch((error) => notice(wordsOf(error)));
      hands.changed();
    }
  });
  byId("delete").addEventListener("click", async () => {
    byId("menu").hidePopover();
    const { id } = hands.shown();
    if (await askPerson({ head: "Delete this conversation?", words: "Its log, its terminal’s output and its recordings are removed from disk.", yes: "Delete it" })) {
      try {
        await api.remove(id);
        hands.deleted(id);
      } catch (error) {
        notice(wordsOf(error));
      }
      hands.changed();
    }
  });
}
