/** What travels between the page and the server. Only the type checker reads this file. */

export type Status = "none" | "running" | "waiting" | "ok" | "warning" | "error";

export interface Outline {
  id: string;
  kind: string;
  status?: Status;
  title: string;
  depth: number;
  agent?: string;
  tool?: string;
  ts?: number;
  duration_ms?: number;
  /** The event that changed the row last, and the one that it began with. */
  seq: number;
  begin: number;
  request?: Request;
}

/** A question to a person, of the row that shows it. */
export interface Request {
  request_id: string;
  kind: "approval" | "question" | "secret";
  state: "open" | "answered" | "closed";
  /** An answer carries it back. */
  hash?: string;
  options?: Option[];
  schema?: unknown;
  /** The form's fields, where the schema has only plain ones. */
  fields?: Field[];
  expires?: number;
  screen_offset?: number;
}

export interface Option {
  id: string;
  label: string;
  kind: "allow" | "deny" | "choice";
  scope?: string;
  needs_text?: boolean;
}

export interface Field {
  name: string;
  title: string;
  type: "string" | "number" | "integer" | "boolean";
  description?: string;
  required?: boolean;
  choices?: { value: string; label: string }[];
  default?: any;
}

/** What is answered. */
export interface Answer {
  option?: string;
  text?: string;
  values?: unknown;
}

export interface DrawnRow {
  seq: number;
  row: Outline;
  html: string;
}

export interface Run {
  start: number;
  len: number;
  fg?: number | string | null;
  bg?: number | string | null;
  attrs?: string[];
  link?: string | null;
}

export interface Cursor {
  row: number;
  col: number;
  visible?: boolean;
  shape?: string;
}

export interface ScreenDelta {
  rows: { row: number; text: string; runs?: Run[] }[];
  cursor: Cursor;
  title: string;
  alt_screen: boolean;
  cols: number;
  rows_count: number;
  ts: number;
  raw_offset?: number;
}

/** What `read_screen` answers. */
export interface ScreenRead {
  rows: string[];
  runs?: Run[][];
  cursor: Cursor;
  title: string;
  alt_screen: boolean;
  cols: number;
  rows_count: number;
  ts: number;
  raw_offset: number;
}

export interface PtyState {
  mode?: string;
  foreground?: string | null;
  awaiting_secret?: boolean;
  title?: string | null;
  keyboard?: string;
  /** Whether the agent is at work on what it was asked for. */
  turn?: "working" | "done";
}

export interface Block {
  block_id: string;
  seq: number;
  cmd: string;
  cwd?: string | null;
  ts_begin: number;
  ts_end?: number | null;
  exit_code?: number | null;
  done_because?: string | null;
  duration_ms?: number | null;
  raw: [number, number | null] | { start: number; end: number | null };
  alt_screen?: boolean;
  origin?: string;
}

export interface Description {
  id: string;
  name: string;
  state: "new" | "running" | "secret" | "idle" | "ended";
  last_activity: number;
  created: number;
  running?: string;
  cwd?: string;
  keyboard?: string;
  mode?: string;
}

/** A message of the socket. */
export interface Message {
  type: string;
  conversation_id?: string;
  [field: string]: any;
}

export interface LinkState {
  name: "connecting" | "live" | "waiting" | "offline" | "denied";
  /** When the next attempt is due, in ms of the page's clock. */
  retryAt?: number;
}

declare global {
  interface Window {
    trustedTypes?: { createPolicy(name: string, rules: { createHTML(text: string): string }): { createHTML(text: string): any } };
  }
}
