// Rewind: the terminal as it was at any earlier moment. The axis is time, with long pauses made short. Between the
// beginnings and ends of commands, output is assumed to have come evenly.
import { Latest } from "../parts/async_order.js";
import { fullTime } from "../parts/dates.js";
import { byId, drawing, h } from "../parts/dom.js";
import { notice, say, wordsOf } from "../parts/messages.js";
import { api } from "../connection/api.js";
import { rawOf } from "./command_list.js";
import { oneLine, outcome } from "./command_text.js";
import { between, last } from "./time_scale.js";

/** @typedef {import("../../types.d.ts").Block} Block */

const LONGEST_PAUSE = 2000; // ms that a pause takes on the scrubber
const SHORTEST = 20; // ms that it takes at least, so that every mark has a place of its own
const FRAME = 80; // ms between two pictures while playing

export class Scrubber {
  /** @param {import("./terminal.js").Terminal} terminal @param {import("./command_list.js").CommandList} commands */
  constructor(terminal, commands) {
    this.terminal = terminal;
    this.commands = commands;
    this.conversation = "";
    /** Moments whose place in the output is known, and their places on the scrubber. */
    this.times = [0];
    this.offsets = [0];
    this.places = [0];
    this.place = 0;
    this.live = true;
    /** Every stay in the past: a screen that was asked for in an earlier one is not shown. */
    this.stays = new Latest();
    this.isThere = this.stays.begin();
    this.playing = false;
    this.frame = 0;
    this.tick = 0;
    this.reading = false;
    /** @type {number | null} */
    this.wanted = null;
    /** The command whose end is shown. @type {Block | undefined} */
    this.block = undefined;
    const scrub = byId("scrub", HTMLInputElement);
    scrub.addEventListener("input", () => this.go(Number(scrub.value)));
    byId("before").append(drawing("M4 3h2v10H4zM13 3v10L6.5 8z"));
    byId("next").append(drawing("M10 3h2v10h-2zM3 3v10L9.5 8z"));
    byId("before").addEventListener("click", () => this.step(-1));
    byId("next").addEventListener("click", () => this.step(1));
    byId("play").addEventListener("click", () => this.playing ? this.pause() : this.play());
    byId("live").addEventListener("click", () => this.toLive());
    this.label();
  }

  /** @param {string} conversation */
  open(conversation) {
    this.conversation = conversation;
    this.leavePast();
    this.survey();
    this.tell();
  }

  get length() {
    return this.places[this.places.length - 1] ?? 0;
  }

  /** Where commands began and ended, in time and in the output. */
  survey() {
    const { blocks } = this.commands;
    /** @type {number[]} */
    const times = [];
    /** @type {number[]} */
    const offsets = [];
    /** @type {number[]} */
    const places = [];
    const add = (/** @type {number} */ time, /** @type {number} */ offset) => {
      const before = times.length ? times[times.length - 1] ?? 0 : time;
      if (times.length && (time < before || offset < (offsets[offsets.length - 1] ?? 0))) return;
      places.push(times.length ? (places[places.length - 1] ?? 0) + Math.min(Math.max(time - before, SHORTEST), LONGEST_PAUSE) : 0);
      times.push(time);
      offsets.push(offset);
    };
    if (blocks[0]) add(blocks[0].ts_begin - 500, 0);
    for (const block of blocks) {
      const [from, to] = rawOf(block);
      add(block.ts_begin, from);
      if (block.ts_end && to !== null) add(block.ts_end, to);
    }
    const now = this.terminal.live;
    if (now.offset) add(Math.max(now.ts, (times[times.length - 1] ?? 0) + 500), now.offset);
    this.times = times.length ? times : [0];
    this.offsets = offsets.length ? offsets : [0];
    this.places = places.length ? places : [0];
    byId("scrub", HTMLInputElement).max = String(Math.max(Math.round(this.length), 1));
    this.lane();
    this.tell(this.block);
  }

  lane() {
    const whole = this.length || 1;
    const percent = (/** @type {number} */ time) => between(this.times, this.places, time) / whole * 100;
    byId("lane").replaceChildren(...this.commands.blocks.slice(-1500).map((block) => {
      const [kind] = outcome({ because: block.done_because, exit: block.exit_code });
      const begin = percent(block.ts_begin), part = h(`span.${kind}`, { "data-block": block.block_id });
      part.style.left = `${begin}%`;
      part.style.width = `${Math.max(percent(block.ts_end ?? Date.now()) - begin, 0)}%`;
      return part;
    }));
  }

  /** Shows the moment at a place of the scrubber. @param {number} place */
  go(place) {
    this.place = Math.min(Math.max(place, 0), this.length);
    this.showOutput(Math.round(between(this.places, this.offsets, this.place)));
  }

  /** Shows the moment when the output was so long. @param {number} offset */
  toOffset(offset) {
    this.survey();
    this.place = between(this.offsets, this.places, offset);
    this.showOutput(offset);
    say("The screen as it was then");
  }

  /** @param {number} offset */
  showOutput(offset) {
    this.leaveLive();
    this.block = undefined;
    this.tell();
    this.show(offset);
  }

  leaveLive() {
    if (this.live) this.isThere = this.stays.begin();
    this.live = false;
  }

  /** The latest moment that was asked for is shown; those in between need not be. @param {number} offset */
  async show(offset) {
    this.wanted = offset;
    if (this.reading) return;
    const { conversation, isThere } = this;
    this.reading = true;
    while (this.wanted !== null && isThere()) {
      const at = this.wanted;
      this.wanted = null;
      try {
        const read = await api.pty(conversation, "read_screen", { at_offset: at, style: true });
        if (isThere()) this.terminal.showPast(read);
      } catch (error) {
        if (!isThere()) return;
        this.pause();
        notice(`That moment cannot be shown: ${wordsOf(error)}`);
      }
    }
    if (isThere()) this.reading = false;
  }

  /** The screen as it was when a command had ended. @param {Block} block */
  toBlock(block) {
    const [, end] = rawOf(block);
    this.survey();
    if (end === null || !block.ts_end) {
      this.toLive();
      return;
    }
    this.leaveLive();
    this.block = block;
    this.place = between(this.times, this.places, block.ts_end);
    this.tell(block);
    this.show(end);
    say(`The screen after ${oneLine(block.cmd).slice(0, 100)}`);
  }

  /** The command before, or the next one. @param {number} way */
  step(way) {
    this.pause();
    this.survey(); // the live screen may be newer than the last survey
    const ended = this.commands.blocks.filter((block) => block.ts_end), ends = ended.map((block) => between(this.times, this.places, block.ts_end ?? 0));
    const place = this.live ? this.length + 1 : this.place;
    const here = last(ends, place + 0.5), exact = !this.live && here >= 0 && Math.abs((ends[here] ?? 0) - place) <= 1;
    const target = way > 0 ? here + 1 : exact ? here - 1 : here;
    const block = ended[target];
    if (block) this.toBlock(block);
    else if (way > 0) this.toLive();
    else this.go(0);
  }

  /** From now on the live screen is meant; answers about an earlier moment are not shown. */
  leavePast() {
    this.pause();
    this.live = true;
    this.stays.begin();
    this.block = undefined;
    this.wanted = null;
    this.reading = false;
  }

  toLive() {
    this.leavePast();
    this.terminal.showLive();
    this.tell();
    say("Back to live");
  }

  play() {
    this.survey();
    if (this.live || this.place >= this.length) this.go(0);
    this.playing = true;
    this.tick = performance.now();
    this.label();
    const frame = () => {
      if (!this.playing) return;
      const now = performance.now();
      if (now - this.tick >= FRAME && !this.reading) {
        const place = this.place + (now - this.tick) * Number(byId("speed", HTMLSelectElement).value);
        this.tick = now;
        if (place >= this.length) {
          this.toLive();
          return;
        }
        this.go(place);
      }
      this.frame = requestAnimationFrame(frame);
    };
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(frame);
  }

  pause() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.label();
  }

  label() {
    const button = byId("play"), word = this.playing ? "Pause" : "Play";
    button.replaceChildren(drawing(this.playing ? "M4 3h3v10H4zM9 3h3v10H9z" : "M4 2.5v11L13 8z"));
    button.setAttribute("aria-label", word);
    button.title = word;
  }

  /** @param {Block} [block] the one that this is about, when it is known */
  tell(block) {
    const scrub = byId("scrub", HTMLInputElement), place = this.live ? this.length : this.place;
    scrub.value = String(Math.round(place));
    scrub.disabled = this.length === 0;
    byId("done").style.width = `${this.length ? place / this.length * 100 : 0}%`;
    byId("live").hidden = this.live;
    byId("terminal-pane").classList.toggle("past", !this.live);
    const time = between(this.places, this.times, place);
    const here = block ?? this.commands.blocks[last(this.commands.blocks.map((each) => each.ts_begin), time)];
    byId("moment").textContent = this.live ? (this.length ? "Live" : "") : fullTime(time);
    scrub.setAttribute("aria-valuetext", this.live ? "live" : `${fullTime(time)}${here ? `, ${oneLine(here.cmd).slice(0, 80)}` : ""}`);
    this.commands.mark(this.live || !here ? "" : here.block_id);
    for (const name of ["before", "next", "play"]) byId(name, HTMLButtonElement).disabled = this.length === 0;
  }
}
