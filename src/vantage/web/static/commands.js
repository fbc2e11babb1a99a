// The commands of the terminal as a list: how each ended, how long it took, where its output is.
import { api } from "./api.js";
import { byId, h, icon, soon } from "./dom.js";
import { timeOfDay } from "./moments.js";
import { lasting, oneLine, outcome } from "./words.js";

/** @typedef {import("../types.d.ts").Block} Block */

const PAGE = 1000;

/** Where a command's bytes are in the raw output. @param {Block} block @returns {[number, number | null]} */
export function rawOf(block) {
  return Array.isArray(block.raw) ? block.raw : [block.raw.start, block.raw.end];
}

export class Commands {
  /** @param {{ show: (block: Block) => void, rewind: (block: Block) => void, changed: () => void }} hands */
  constructor(hands) {
    this.hands = hands;
    this.conversation = "";
    /** @type {Block[]} */
    this.blocks = [];
    this.current = "";
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
    this.draw();
    this.load();
  }

  /** A command began or ended. @param {import("../types.d.ts").Message} message */
  heard(message) {
    if (message.type === "agent_block_begin" || message.type === "agent_block_end") this.read();
  }

  async load() {
    const { conversation } = this;
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
    if (conversation !== this.conversation) return;
    this.blocks = [...kept, ...fresh];
    this.draw();
    this.hands.changed();
  }

  draw() {
    const list = byId("command-list"), pinned = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
    byId("commands-count").textContent = this.blocks.length ? String(this.blocks.length) : "";
    /** @type {Map<string, HTMLElement>} */
    const known = new Map([...list.children].map((item) => [/** @type {HTMLElement} */ (item).dataset.key ?? "", /** @type {HTMLElement} */ (item)]));
    list.replaceChildren(...this.blocks.map((block) => {
      const key = `${block.block_id} ${block.done_because ?? ""}`;
      return known.get(key) ?? this.item(block, key);
    }));
    if (!this.blocks.length) list.append(h("li.none", null, "No command has run yet."));
    if (pinned) list.scrollTop = list.scrollHeight;
  }

  /** @param {Block} block @param {string} key */
  item(block, key) {
    const [kind, word] = outcome({ because: block.done_because, exit: block.exit_code });
    const took = block.duration_ms ?? (block.ts_end ? block.ts_end - block.ts_begin : null);
    const command = oneLine(block.cmd);
    return h(`li.${kind}`, { "data-block": block.block_id, "data-key": key },
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
