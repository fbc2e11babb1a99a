// Copies the source of a row or block, whole, not the text that was drawn of it.
import { copyText } from "../parts/clipboard.js";
import { api } from "../connection/api.js";

const WHOLE = 100_000_000; // characters: no limit in practice

/**
 * What a row or one of its blocks was drawn from.
 * @param {string} conversation
 * @param {string} row
 * @param {string} [place] `3.1` is the second block of the section that is the fourth block
 */
export function copySource(conversation, row, place) {
  return copyText((async () => {
    const answer = await api.row(conversation, row);
    /** @type {any[]} */
    const blocks = answer.row.blocks ?? [];
    if (place !== undefined) {
      const found = place.split(".").reduce((/** @type {any} */ block, index) => (block?.blocks ?? block)?.[Number(index)], blocks);
      return found ? sourceOf(conversation, found) : "";
    }
    const parts = await Promise.all(blocks.map((block) => sourceOf(conversation, block)));
    return [answer.row.title, ...parts].filter(Boolean).join("\n");
  })());
}

/** @type {Record<string, (block: any, conversation: string) => string | Promise<string>>} */
const SOURCES = {
  terminal: async (block, conversation) => (await api.pty(conversation, "read_block", { block_id: block.block_id, max_output: WHOLE })).output,
  kv: (block) => block.pairs.map((/** @type {[string, string]} */ pair) => pair.join(": ")).join("\n"),
  badges: (block) => block.items.join(", "),
  list: (block) => block.items.map((/** @type {any} */ item) => [item.title, item.status, item.subtitle].filter(Boolean).join(" · ")).join("\n"),
  checklist: (block) => [block.overview, ...block.items.map((/** @type {any} */ item) => `- [${item.status === "completed" ? "x" : " "}] ${item.text}`)].filter(Boolean).join("\n"),
  table: (block) => [block.header, ...block.rows].map((/** @type {string[]} */ row) => row.join("\t")).join("\n"),
  diff: (block) => block.files.map(diffText).join("\n"),
  progress: (block) => `${block.label ?? ""} ${Math.round(block.value * 100)} %`.trim(),
  image: (block) => block.alt ?? "",
  section: async (block, conversation) => [block.title, ...await Promise.all(block.blocks.map((/** @type {any} */ inner) => sourceOf(conversation, inner)))].filter(Boolean).join("\n"),
};

/** @param {string} conversation @param {any} block @returns {string | Promise<string>} */
function sourceOf(conversation, block) {
  return SOURCES[block.type]?.(block, conversation) ?? block.content ?? "";
}

/** @param {any} file */
function diffText(file) {
  const lines = (file.hunks ?? []).map((/** @type {any[]} */ hunk) => hunk.map((line) => line.sign + line.text).join("\n"));
  return [`${file.action ?? "Edit"} ${file.path}${file.new_path ? ` → ${file.new_path}` : ""}`, ...lines].join("\n");
}
