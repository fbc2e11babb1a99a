// The height of every row, and where it begins: a Fenwick tree, so both cost O(log n).

export class Heights {
  /** @param {number} guess for what was never measured */
  constructor(guess) {
    this.guess = guess;
    this.count = 0;
    /** @type {number[]} */
    this.each = [0];
    /** @type {number[]} */
    this.sums = [0];
  }

  /** @param {number} count */
  resize(count) {
    for (let n = this.count + 1; n <= count; n++) {
      // the sum of a new node is that of the nodes below it, and itself
      let sum = this.guess;
      for (let k = 1; k < (n & -n); k <<= 1) sum += this.sums[n - k] ?? 0;
      this.each.push(this.guess);
      this.sums.push(sum);
    }
    this.count = Math.max(this.count, count);
  }

  /** @param {number} n @param {number} height @returns {number} by how much it grew */
  set(n, height) {
    const grown = height - (this.each[n] ?? 0);
    if (grown === 0 || n > this.count) return 0;
    this.each[n] = height;
    for (let k = n; k <= this.count; k += k & -k) this.sums[k] = (this.sums[k] ?? 0) + grown;
    return grown;
  }

  /** Where row n begins. @param {number} n */
  top(n) {
    let sum = 0;
    for (let k = Math.min(n - 1, this.count); k > 0; k -= k & -k) sum += this.sums[k] ?? 0;
    return sum;
  }

  get total() {
    return this.top(this.count + 1);
  }

  /** The row at a height. @param {number} y */
  at(y) {
    let n = 0, step = 1;
    while (step * 2 <= this.count) step *= 2;
    for (let rest = y; step > 0; step >>= 1) {
      const sum = this.sums[n + step];
      if (n + step <= this.count && sum !== undefined && sum <= rest) {
        n += step;
        rest -= sum;
      }
    }
    return Math.min(n + 1, this.count);
  }
}
