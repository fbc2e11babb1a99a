// Order among asynchronous steps: which answer counts, and which step waits for which.

/** Of several questions, or several moves, only the last one counts: an answer to an earlier one is dropped. */
export class Latest {
  constructor() {
    this.count = 0;
  }

  /** Begins one, which ends those before it. @returns {() => boolean} whether it is still the last */
  begin() {
    const mine = this.count += 1;
    return () => mine === this.count;
  }
}

/**
 * Runs a step one at a time, so that its answers come in order. A call during a run leads to one more run after it.
 * @param {() => Promise<void>} step
 * @returns {() => Promise<void>} settled after the last run
 */
export function inTurn(step) {
  let again = false;
  /** @type {Promise<void> | null} */
  let running = null;
  const run = async () => {
    try {
      while (again) {
        again = false;
        await step();
      }
    } finally {
      running = null;
    }
  };
  return () => {
    again = true;
    return running ??= run();
  };
}

/**
 * Debounces: runs `act` once, `ms` after the last call.
 * @param {number} ms
 * @param {() => void} act
 */
export function soon(ms, act) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, ms);
  };
}
