// The socket: one for the page. It comes back by itself, says how it is, and goes on where it was.

/** @typedef {import("../types.d.ts").Message} Message @typedef {import("../types.d.ts").LinkState} LinkState */

const FIRST_RETRY = 400, LONGEST_RETRY = 15000; // ms
const HEARTBEAT = 20000, PATIENCE = 6000;
const OVERLAP = 64;
/* Rows are idempotent, and one that is drawn late may bring a later number than one that is still to come: a resume asks
   for a little more than is missing. */

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
    this.hands.onState({ name: "connecting" });
    const socket = this.socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/v1/ws`);
    socket.addEventListener("open", () => {
      this.send({ type: "hello", client_id: this.clientId, ...(this.presentation ? { presentation: this.presentation } : {}) });
    });
    socket.addEventListener("message", (event) => this.heard(JSON.parse(event.data)));
    socket.addEventListener("close", () => { if (this.socket === socket) this.lost(); });
    this.expect();
  }

  /** Whoever does not answer in time is gone, even if nobody said so. */
  expect() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.drop(), PATIENCE);
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

  /** Somebody looks, or the network is back: now is better than later. */
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
   * From now on, and after every interruption, everything about a conversation.
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
    this.send({ type: "subscribe", conversation_id: id, surface: "html", channels: ["rows", "screen", "blocks"], ...resume });
  }

  /** The display has another size. @param {Record<string, unknown>} presentation */
  present(presentation) {
    this.presentation = presentation;
    if (this.welcome) this.send({ type: "client_config", presentation });
  }
}

/** A name for this tab that survives a reload, and is not shared with a copy of the tab. */
export async function clientId() {
  const known = sessionStorage.getItem("vantage-client");
  const fresh = `web-${Array.from(crypto.getRandomValues(new Uint8Array(5)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  for (const name of [known ?? fresh, fresh]) {
    const mine = await new Promise((resolve) => {
      if (!navigator.locks) return resolve(true); // no secure context, no locks: a copied tab is told apart by nothing
      navigator.locks.request(`vantage-${name}`, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        return lock ? new Promise(() => {}) : undefined; // held for as long as the page lives
      });
    });
    if (mine) {
      sessionStorage.setItem("vantage-client", name);
      return name;
    }
  }
  return fresh;
}
