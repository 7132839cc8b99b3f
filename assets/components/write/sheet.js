// What is written so far, put together from the server's answers (ui/written.py): tokens, choices, rows of one head.

import { Matrix } from "../shared/frame.js";

export const ACTIVE = ["waiting", "reading", "writing", "checking"];

export class Sheet {
  constructor() {
    Object.assign(this, { state: "waiting", version: "", edition: "", kind: "", tokens: [], choices: [], rows: [], next: null, nPrompt: 0, end: null, error: null, check: null });
  }

  get active() {
    return ACTIVE.includes(this.state);
  }

  /** The token that was chosen last has asked nobody yet. */
  get unread() {
    return this.choices.length > 0 ? this.tokens.length - 1 : null;
  }

  /** How many tokens have looked around, whether or not their rows of this head are here. */
  get nRead() {
    return this.tokens.length - (this.unread === null ? 0 : 1);
  }

  take(answer) {
    if (answer.state === "gone") {
      this.state = "gone";
      return;
    }
    const { state, version, edition, kind, tokens, end, error, check, next } = answer;
    if (edition !== this.edition) this.choices = [];
    this.choices.length = answer.first_choice;
    this.choices.push(...answer.choices);
    if (kind !== this.kind) this.rows = [];
    this.rows.length = answer.first_row;
    const { rows: more, no_key: noKey } = answer.arrays;
    for (let i = 0; i < (more?.rows ?? 0); i += 1) {
      const row = more.row(i).slice(0, answer.first_row + i + 1);
      row.noKey = noKey?.data[i];
      this.rows.push(row);
    }
    Object.assign(this, { state, version, edition, kind, tokens, end, error, check, next, nPrompt: answer.n_prompt });
  }

  /** What is here already, so that the server leaves it out. */
  known() {
    const { version, edition, kind } = this;
    return { version, edition, kind, choices: this.choices.length, rows: this.rows.length };
  }

  /** What could come after token i, and what was taken (`coming`: nothing yet); null where that was not asked. */
  after(i) {
    const place = i - (this.nPrompt - 1);
    if (place < 0) return null;
    if (this.choices[place]) return { ...this.choices[place], place, coming: false };
    return place === 0 && this.next ? { ...this.next, place, coming: true } : null;
  }

  /** The triangle: weights, which cells may be seen, and what goes to no token, where the model has such a place. */
  triangle() {
    const n = this.rows.length;
    const weights = new Matrix(new Float64Array(n * n), n, n);
    const allowed = new Matrix(new Uint8Array(n * n), n, n);
    this.rows.forEach((row, i) => {
      weights.data.set(row, i * n);
      allowed.data.fill(1, i * n, i * n + i + 1);
    });
    const noKey = n > 0 && this.rows[0].noKey !== undefined ? new Matrix(Float64Array.from(this.rows, (row) => row.noKey), 1, n) : null;
    return { weights, allowed, noKey };
  }
}
