// The page's one socket. It reconnects by itself, tells its state, and resumes every subscription.
import { session } from "./session.js";

/** @typedef {import("../../types.d.ts").Message} Message @typedef {import("../../types.d.ts").LinkState} LinkState */

const FIRST_RETRY = 400, LONGEST_RETRY = 15000; // ms
const HEARTBEAT = 20000, TIMEOUT = 6000; // ms
const OVERLAP = 64;
/* Events before the last known one: rows are drawn in parallel, so a row with an earlier number may come after one with a
   later number. A resume asks for these again; rows replace themselves. */

export class Link {
  /**
   * @param {string} clientId
   * @param {{ onState: (state: LinkState) => void, onMessage: (message: Message) => void, denied: () => Promise<boolean> }} hands
   */
  constructor(clientId, hands) {
    this.clientId = clientId;
    this.hands = hands;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.welcome = false;
    this.attempts = 0;
    this.timer = 0;
    this.silence = 0;
    /** @type {Record<string, unknown> | null} */
    this.presentation = null;
    /** The presentation that the server knows. @type {Record<string, unknown> | null} */
    this.told = null;
    /** @type {Map<string, { position: () => { epoch?: string, after?: number } }>} */
    this.subscriptions = new Map();
    addEventListener("online", () => this.wake());
    addEventListener("offline", () => this.drop());
    addEventListener("focus", () => this.wake());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.wake(); });
    setInterval(() => { if (this.welcome) this.probe(); }, HEARTBEAT);
  }

  connect() {
    clearTimeout(this.timer);
    if (this.socket) return;
    const token = session()?.token;
    if (!token) {
      this.hands.onState({ name: "denied" });
      return;
    }
    this.hands.onState({ name: "connecting" });
    const socket = this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/ws`);
    socket.addEventListener("open", () => {
      this.told = this.presentation;
      this.send({ type: "hello", client_id: this.clientId, token, ...(this.presentation ? { presentation: this.presentation } : {}) });
    });
    socket.addEventListener("message", (event) => { if (this.socket === socket) this.heard(JSON.parse(event.data)); });
    socket.addEventListener("close", () => { if (this.socket === socket) this.lost(); });
    this.expect();
  }

  /** Drops a connection that brings no answer in time, even if it was never closed. */
  expect() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.drop(), TIMEOUT);
  }

  probe() {
    if (this.send({ type: "ping" })) this.expect();
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    this.lost();
  }

  async lost() {
    const met = this.welcome;
    this.socket = null;
    this.welcome = false;
    clearTimeout(this.silence);
    clearTimeout(this.timer);
    if (!met && navigator.onLine && await this.hands.denied()) {
      this.hands.onState({ name: "denied" });
      return;
    }
    if (this.socket) return;
    const wait = Math.min(FIRST_RETRY * 2 ** this.attempts, LONGEST_RETRY) * (0.5 + Math.random() / 2);
    this.attempts += 1;
    this.hands.onState({ name: navigator.onLine ? "waiting" : "offline", retryAt: Date.now() + wait });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), wait);
  }

  /** The page is looked at, or the network is back: connects at once. */
  wake() {
    if (this.welcome) this.probe();
    else if (!this.socket) {
      this.attempts = 0;
      this.connect();
    }
  }

  /** @param {Message} message */
  heard(message) {
    clearTimeout(this.silence);
    if (message.type === "welcome") {
      this.welcome = true;
      this.attempts = 0;
      this.tell();
      this.hands.onState({ name: "live" });
      for (const id of this.subscriptions.keys()) this.ask(id);
    }
    this.hands.onMessage(message);
  }

  /** @param {Record<string, unknown>} message @returns {boolean} whether it went out */
  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /**
   * Subscribes to a conversation, now and after every reconnect.
   * @param {string} id
   * @param {() => { epoch?: string, after?: number }} position what is known of it
   */
  follow(id, position) {
    this.subscriptions.set(id, { position });
    if (this.welcome) this.ask(id);
  }

  /** @param {string} id */
  leave(id) {
    if (this.subscriptions.delete(id) && this.welcome) this.send({ type: "unsubscribe", conversation_id: id });
  }

  /** @param {string} id */
  ask(id) {
    const { epoch, after } = this.subscriptions.get(id)?.position() ?? {};
    const resume = epoch ? { epoch, after: Math.max((after ?? 0) - OVERLAP, 0) } : {};
    this.send({ type: "subscribe", conversation_id: id, surface: "html", channels: ["rows", "screen"], ...resume });
  }

  /** The display has another size. @param {Record<string, unknown>} presentation */
  present(presentation) {
    this.presentation = presentation;
    if (this.welcome) this.tell();
  }

  /** Tells the server a presentation that it does not know: one may come between the first message and its answer. */
  tell() {
    if (this.presentation === this.told) return;
    this.told = this.presentation;
    this.send({ type: "client_config", presentation: this.presentation });
  }
}

/** An id of this tab and session. It survives a reload; a copy of the tab gets another one. */
export async function clientId() {
  const key = `vantage-client-${session()?.id ?? ""}`, known = sessionStorage.getItem(key);
  const fresh = `web-${Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  for (const name of [known ?? fresh, fresh]) {
    const mine = await new Promise((resolve) => {
      if (!navigator.locks) return resolve(true); // locks need a secure context; without them a copied tab has the same id
      navigator.locks.request(`vantage-${name}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock ? new Promise(() => {}) : undefined; // held for as long as the page lives
      });
    });
    if (mine) {
      sessionStorage.setItem(key, name);
      return name;
    }
  }
  return fresh;
}
