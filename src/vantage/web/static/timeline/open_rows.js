// Which rows are open: all or none, with exceptions. Remembered for each conversation.

const MOST = 500;

export class OpenRows {
  /** @param {string} conversation */
  constructor(conversation) {
    this.key = `vantage-folds-${conversation}`;
    this.all = false;
    /** @type {Set<string>} */
    this.except = new Set();
    try {
      const known = JSON.parse(localStorage.getItem(this.key) ?? "null");
      if (known) {
        this.all = known.all === true;
        this.except = new Set(known.except);
      }
    } catch { /* an entry that cannot be read counts as none */ }
  }

  /** @param {string} row */
  isOpen(row) {
    return this.all !== this.except.has(row);
  }

  /** @param {string} row @param {boolean} open */
  set(row, open) {
    if (open === this.isOpen(row)) return;
    if (open === this.all) this.except.delete(row);
    else this.except.add(row);
    this.keep();
  }

  /** @param {boolean} open */
  setAll(open) {
    this.all = open;
    this.except.clear();
    this.keep();
  }

  keep() {
    if (!this.all && !this.except.size) localStorage.removeItem(this.key);
    else localStorage.setItem(this.key, JSON.stringify({ all: this.all, except: [...this.except].slice(-MOST) }));
  }
}
