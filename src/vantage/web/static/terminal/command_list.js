// The commands of the terminal as a list: how each ended, how long it took, where its output is.
import { inTurn, soon } from "../parts/async_order.js";
import { timeOfDay } from "../parts/dates.js";
import { byId, h, icon } from "../parts/dom.js";
import { waitsForRelease } from "../parts/press.js";
import { api } from "../connection/api.js";
import { lasting, oneLine, outcome } from "./command_text.js";

/** @typedef {import("../../types.d.ts").Block} Block */

const PAGE = 1000;

/** Where a command's bytes are in the raw output. @param {Block} block @returns {[number, number | null]} */
export function rawOf(block) {
  return Array.isArray(block.raw) ? block.raw : [block.raw.start, block.raw.end];
}

export class CommandList {
  /** @param {{ show: (block: Block) => void, rewind: (block: Block) => void, changed: () => void }} hands */
  constructor(hands) {
    this.hands = hands;
    this.conversation = "";
    /** @type {Block[]} */
    this.blocks = [];
    this.current = "";
    this.load = async () => {};
    this.read = soon(60, () => this.load());
    byId("command-list").addEventListener("click", (event) => {
      const target = event.target instanceof Element ? event.target : null, item = /** @type {HTMLElement | null} */ (target?.closest("li"));
      const block = this.blocks.find((each) => each.block_id === item?.dataset.block);
      if (!block || !target) return;
      if (target.closest(".see")) hands.rewind(block);
      else if (target.closest(".go")) hands.show(block);
    });
  }

  /** @param {string} conversation */
  open(conversation) {
    this.conversation = conversation;
    this.blocks = [];
    this.load = conversation ? inTurn(() => this.readNew(conversation)) : async () => {};
    this.draw();
    this.load();
  }

  /** Reads the commands after the last one that has ended. @param {string} conversation */
  async readNew(conversation) {
    const { load } = this;
    const running = this.blocks.findIndex((block) => !block.done_because);
    const kept = running < 0 ? this.blocks : this.blocks.slice(0, running);
    let after = kept[kept.length - 1]?.seq ?? 0;
    const fresh = [];
    try {
      for (;;) {
        /** @type {Block[]} */
        const page = (await api.pty(conversation, "blocks", { after, limit: PAGE })).blocks;
        fresh.push(...page);
        if (page.length < PAGE) break;
        after = /** @type {Block} */ (page[page.length - 1]).seq;
      }
    } catch {
      return; // it is asked again when the next command begins or ends
    }
    if (load !== this.load) return;
    this.blocks = [...kept, ...fresh];
    this.draw();
    this.hands.changed();
  }

  draw() {
    const list = byId("command-list"), pinned = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
    if (waitsForRelease(list, () => this.draw())) return;
    byId("commands-count").textContent = this.blocks.length ? String(this.blocks.length) : "";
    const wanted = new Set(this.blocks.map((block) => block.block_id));
    for (const item of /** @type {HTMLElement[]} */ ([...list.children])) if (!wanted.has(item.dataset.block ?? "")) item.remove();
    this.blocks.forEach((block, index) => { // items that stay are not moved: they keep the focus, and a click under way
      const key = `${block.block_id} ${block.done_because ?? ""}`, known = /** @type {HTMLElement | undefined} */ (list.children[index]);
      if (known?.dataset.key === key) return;
      const item = this.item(block, key);
      if (known?.dataset.block === block.block_id) replace(known, item);
      else list.insertBefore(item, known ?? null);
    });
    if (!this.blocks.length) list.append(h("li.none", null, "No command has run yet."));
    if (pinned) list.scrollTop = list.scrollHeight;
  }

  /** @param {Block} block @param {string} key */
  item(block, key) {
    const [kind, word] = outcome({ because: block.done_because, exit: block.exit_code });
    const took = block.duration_ms ?? (block.ts_end ? block.ts_end - block.ts_begin : null);
    const command = oneLine(block.cmd);
    return h(`li.${kind}`, { "data-block": block.block_id, "data-key": key, "aria-current": block.block_id === this.current ? "true" : null },
      h("button.go", { type: "button", title: `${block.cmd.slice(0, 500)}\n${timeOfDay(block.ts_begin)}${block.cwd ? ` in ${block.cwd}` : ""}` },
        h("code", null, command), " ", h("em", null, word, word === "✓" ? h("span.unseen", null, " exit 0") : null), " ",
        h("small", null, took === null ? "" : lasting(took)), h("span.unseen", null, ": show its output")),
      h("button.see", { type: "button", title: "The screen as it was then", "aria-label": `The screen as it was after ${command.slice(0, 80)}` }, icon("clock")));
  }

  /** Marks the command that a moment belongs to. @param {string} id */
  mark(id) {
    if (id === this.current) return;
    this.current = id;
    for (const item of byId("command-list").children) {
      if (/** @type {HTMLElement} */ (item).dataset.block === id) {
        item.setAttribute("aria-current", "true");
        item.scrollIntoView({ block: "nearest" });
      } else item.removeAttribute("aria-current");
    }
  }
}

/** Puts an item in the place of an older one, with its focus. @param {HTMLElement} old @param {HTMLElement} fresh */
function replace(old, fresh) {
  const part = old.contains(document.activeElement) ? document.activeElement?.className : "";
  old.replaceWith(fresh);
  if (part) /** @type {HTMLElement | null} */ (fresh.getElementsByClassName(part)[0])?.focus({ preventScroll: true });
}
