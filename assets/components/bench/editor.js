// The matrices that can be changed, a box for each number: what is typed counts at once.
import { el, phrase } from "../shared/dom.js";
import { signedScale } from "../shared/matrix_cells.js";
import { exact } from "../shared/numbers.js";
import { fit, limitOf, matrixOf, nameOf, numberOf, VECTORS, WEIGHTS, withCell, written } from "./model.js";
import { symbolOf } from "./symbols.js";

const EDITED = { vectors: VECTORS, matrices: ["x", ...WEIGHTS] };
const TONES = { q: "q", k: "k", v: "v", w_q: "q", w_k: "k", w_v: "v", x: "" };

export class Editors {
  constructor(desk) {
    this.desk = desk;
    this.heading = el("p", { class: "quiet small" });
    this.grids = el("div", { class: "editors" });
    this.node = el("div", { class: "editing" }, this.heading, this.grids);
  }

  update() {
    const { desk } = this;
    const { mode, x, w_q: w } = desk.state;
    const built = `${mode} ${x.length} ${w.length}`;
    if (built !== this.built) this.build(mode);
    this.built = built;
    for (const grid of this.all) grid.update();
  }

  build(mode) {
    const { strings } = this.desk;
    this.heading.textContent = strings[`edit_${mode}`];
    this.all = EDITED[mode].map((name) => new NumberGrid(this.desk, name));
    this.grids.replaceChildren(...this.all.map((grid) => grid.node));
  }
}

/** One matrix: a table of boxes. Up and Down step the number, Enter goes down, Tab goes on. */
class NumberGrid {
  constructor(desk, name) {
    this.desk = desk;
    this.name = name;
    const { strings, limits } = desk.header;
    this.limit = limitOf(name, limits);
    const rows = desk.state[name];
    this.rowNames = rows.map((_, i) => (name.startsWith("w_") ? String(i) : nameOf(i)));
    this.boxes = rows.map((row, i) => row.map((_, c) => this.box(i, c)));
    const title = strings[`mean_${name}`];
    const head = el("tr", {}, el("td"), rows[0].map((_, c) => el("th", { scope: "col", text: String(c) })));
    const body = this.boxes.map((row, i) => el("tr", {}, el("th", { scope: "row", text: this.rowNames[i] }), row.map((box) => el("td", {}, box))));
    this.node = el("table", { class: "numbers", "data-editor": name },
      el("caption", {}, el("b", { class: TONES[name] }, symbolOf(name)), " ", el("span", { class: "quiet", text: title })),
      el("thead", {}, head), el("tbody", {}, body));
  }

  box(i, c) {
    const { strings } = this.desk;
    const label = phrase(strings.box, { matrix: symbolOf(this.name).textContent, row: this.rowNames[i], column: String(c) });
    const box = el("input", { type: "text", class: "number-box", autocomplete: "off", spellcheck: "false", maxlength: 12, "aria-label": label,
      "data-i": i, "data-j": c });
    box.addEventListener("focus", () => box.select());
    box.addEventListener("input", () => this.typed(box, i, c));
    box.addEventListener("change", () => this.done(box, i, c));
    box.addEventListener("blur", () => this.done(box, i, c));
    box.addEventListener("keydown", (event) => this.press(event, box, i, c));
    return box;
  }

  value(i, c) {
    return this.desk.state[this.name][i][c];
  }

  typed(box, i, c) {
    box.dataset.dirty = "1";
    const number = numberOf(box.value);
    box.setAttribute("aria-invalid", String(number === null || Math.abs(number) > this.limit));
    if (number !== null) this.desk.preview(withCell(this.desk.state, this.name, i, c, fit(number, this.limit)));
  }

  done(box, i, c) {
    if (box.dataset.dirty === undefined) return;
    delete box.dataset.dirty;
    box.removeAttribute("aria-invalid");
    box.value = written(this.value(i, c));
    this.desk.settle();
  }

  press(event, box, i, c) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      delete box.dataset.dirty;
      this.desk.linger(withCell(this.desk.state, this.name, i, c, fit(this.value(i, c) + by * this.desk.step, this.limit)));
      box.value = written(this.value(i, c));
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.done(box, i, c);
      const next = this.boxes[i + 1]?.[c] ?? this.boxes[0][(c + 1) % this.boxes[0].length];
      next.focus();
    } else if (event.key === "Escape" && box.dataset.dirty !== undefined) {
      delete box.dataset.dirty;
      box.removeAttribute("aria-invalid");
      this.desk.settle(this.desk.history.now);
      box.value = written(this.value(i, c));
      box.select();
    }
  }

  update() {
    const { state, theme } = this.desk;
    const values = matrixOf(state[this.name]);
    const { paint } = signedScale(values, theme);
    this.boxes.forEach((row, i) => row.forEach((box, c) => {
      const value = values.at(i, c);
      const { fill, ink } = paint(value);
      if (box.dataset.dirty === undefined && box.value !== written(value)) box.value = written(value);
      box.dataset.value = String(value);
      box.title = exact(value);
      box.style.background = fill;
      box.style.color = ink;
    }));
    const lit = { q: state.query, x: state.query, k: state.key }[this.name];
    [...this.node.tBodies[0].rows].forEach((row, i) => row.classList.toggle("lit", i === lit));
  }
}
