// The plane: the tokens' q and k as arrows from the origin. A handle sits on each tip; it can be dragged by mouse or
// finger, and moved with the arrow keys. With more than two dimensions the plane shows two of them.
import { el, phrase, sentence, svg } from "../shared/dom.js";
import { fixed } from "../shared/numbers.js";
import { fit, limitOf, nameOf, rowsOf, shadow, withCell, withMode } from "./model.js";
import { vectorSymbol } from "./symbols.js";

const SIZE = 600;
const REACHES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 40, 60, 80, 100];
const MOVES = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const EDGE = 26; // Handles stay inside the plane.
const SPOTS = [[24, 0], [68, 0], [-36, 0], [24, 46], [24, -46], [-24, 46], [-24, -46], [112, 0]]; // Beyond the tip, aside.
const ASIDE = 40;
const CLOSE = 0.075; // Handles nearer than this part of the plane would lie over each other.

/** The end of the axes: the next round number beyond the longest arrow. */
function reachFor(most) {
  const wanted = most * 1.12;
  if (wanted <= REACHES.at(-1)) return REACHES.find((reach) => reach >= wanted);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return Math.ceil(wanted / power) * power;
}

export class Plane {
  constructor(desk) {
    this.desk = desk;
    const { strings } = desk;
    this.drawing = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "drawing", "aria-hidden": "true" });
    this.handles = el("div", { class: "handles" });
    this.field = el("div", { class: "field", role: "group", "aria-label": strings.plane_label }, this.drawing, this.handles);
    this.axes = el("div", { class: "axes" });
    this.help = el("p", { class: "quiet small", id: "plane-help" });
    this.locked = el("p", { class: "locked", role: "status" });
    this.node = el("div", { class: "plane" }, this.axes, this.field, this.help, this.locked);
  }

  get isLocked() {
    return this.desk.state.mode !== "vectors";
  }

  update() {
    const { state, stages } = this.desk;
    this.tips = ["q", "k"].flatMap((name) => rowsOf(stages[name]).map((row, i) => ({ name, i, at: shadow(row, state.axes) })));
    const most = Math.max(...this.tips.flatMap(({ at }) => at.map(Math.abs)), 0.85);
    // While an arrow is held the plane stays as it is under the hand.
    if (!this.desk.held || this.reach === undefined) this.reach = reachFor(most);
    this.place();
    this.draw();
    this.chooser();
    this.words();
  }

  /** Numbers → the drawing's coordinates. */
  point([x, y]) {
    const half = SIZE / 2;
    return [half + (x / this.reach) * half * 0.94, half - (y / this.reach) * half * 0.94];
  }

  isChosen({ name, i }) {
    return i === this.desk.state[name === "q" ? "query" : "key"];
  }

  draw() {
    const rank = (tip) => (this.isChosen(tip) ? 2 : tip.name === "k" ? 1 : 0);
    const arrows = [...this.tips].sort((a, b) => rank(a) - rank(b)).map((tip) => this.arrow(tip));
    this.drawing.replaceChildren(...this.grid(), ...this.projection(), ...this.leaders(), ...arrows);
  }

  /** A thin line from the tip to a handle that had to stand aside. */
  leaders() {
    return this.tips.flatMap((tip, at) => {
      const [from, to] = [this.point(tip.at), this.spots[at]];
      const isAside = Math.hypot(to[0] - from[0], to[1] - from[1]) > ASIDE;
      return isAside ? [svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: "leader" })] : [];
    });
  }

  grid() {
    const step = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((each) => this.reach / each <= 6) ?? this.reach;
    const marks = [];
    for (let at = step; at <= this.reach + 1e-9; at += step) marks.push(-at, at);
    const line = (from, to, kind) => svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: kind });
    const cross = (at, kind) => [
      line(this.point([at, -this.reach]), this.point([at, this.reach]), kind),
      line(this.point([-this.reach, at]), this.point([this.reach, at]), kind),
    ];
    const label = (at) => {
      const text = fixed(at, step < 1 ? String(step).length - 2 : 0);
      const [x, y] = this.point([at, at]);
      const [x0, y0] = this.point([0, 0]);
      return [svg("text", { x, y: y0 + 21, class: "mark", "text-anchor": "middle", text }),
        svg("text", { x: x0 - 7, y: y + 5, class: "mark", "text-anchor": "end", text })];
    };
    // Where lines stand close, every second one is labelled.
    const stride = this.reach / step > 4 ? 2 : 1;
    const shown = marks.filter((at) => Math.abs(at) < this.reach * 0.96 && Math.round(at / step) % stride === 0);
    return [...marks.flatMap((at) => cross(at, "line")), ...cross(0, "axis"), ...shown.flatMap(label)];
  }

  /** In two dimensions the score can be seen: k's shadow on q, times the length of q. */
  projection() {
    const { state, stages } = this.desk;
    const [q, k] = [stages.q.row(state.query), stages.k.row(state.key)];
    const square = q[0] * q[0] + q[1] * q[1];
    if (q.length > 2 || !(square > 0)) return [];
    const [a, b] = state.axes;
    const part = (q[0] * k[0] + q[1] * k[1]) / square;
    const foot = this.point([q[a] * part, q[b] * part]);
    const tip = this.point(shadow(k, state.axes));
    const origin = this.point([0, 0]);
    return [svg("line", { x1: origin[0], y1: origin[1], x2: foot[0], y2: foot[1], class: "shadow" }),
      svg("line", { x1: tip[0], y1: tip[1], x2: foot[0], y2: foot[1], class: "drop" })];
  }

  arrow(tip) {
    const [from, to] = [this.point([0, 0]), this.point(tip.at)];
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    const kind = `arrow ${tip.name} ${this.isChosen(tip) ? "chosen" : ""}`;
    if (length < 1) return svg("circle", { cx: to[0], cy: to[1], r: 6, class: `${kind} point` });
    const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    const head = Math.min(19, length);
    const base = [to[0] - dx * head, to[1] - dy * head];
    const wing = (side) => `${base[0] - side * dy * head * 0.42},${base[1] + side * dx * head * 0.42}`;
    return svg("g", { class: kind }, svg("line", { x1: from[0], y1: from[1], x2: base[0], y2: base[1] }),
      svg("polygon", { points: `${to[0]},${to[1]} ${wing(1)} ${wing(-1)}` }));
  }

  /** Handles a little beyond their tips; where two would lie over each other the later one moves outwards. */
  place() {
    while (this.handles.children.length > this.tips.length) this.handles.lastElementChild.remove();
    while (this.handles.children.length < this.tips.length) this.handles.append(this.handle());
    this.spots = [];
    this.tips.forEach((tip, at) => {
      const node = this.handles.children[at];
      this.name(node, tip);
      const [x, y] = this.beyond(tip, this.spots);
      this.spots.push([x, y]);
      node.style.left = `${(x / SIZE) * 100}%`;
      node.style.top = `${(y / SIZE) * 100}%`;
    });
  }

  beyond(tip, taken) {
    const origin = this.point([0, 0]);
    const to = this.point(tip.at);
    const length = Math.hypot(to[0] - origin[0], to[1] - origin[1]);
    const away = length < 1 ? [tip.name === "q" ? -0.7 : 0.7, 0.7] : [(to[0] - origin[0]) / length, (to[1] - origin[1]) / length];
    const aside = [-away[1], away[0]];
    const put = ([far, off]) => [0, 1].map((c) => Math.min(Math.max(to[c] + away[c] * far + aside[c] * off, EDGE), SIZE - EDGE));
    const clear = (at) => taken.every((other) => Math.hypot(other[0] - at[0], other[1] - at[1]) > CLOSE * SIZE);
    const spots = SPOTS.map(put);
    return spots.find(clear) ?? spots[0];
  }

  handle() {
    const node = el("button", { type: "button", "aria-describedby": "plane-help" });
    const tip = () => this.tips[[...this.handles.children].indexOf(node)];
    node.addEventListener("pointerdown", (event) => this.grab(event, node, tip()));
    node.addEventListener("focus", () => this.choose(tip()));
    node.addEventListener("keydown", (event) => this.press(event, tip()));
    return node;
  }

  name(node, tip) {
    const { strings } = this.desk;
    const { name, i, at } = tip;
    const text = `${name}${nameOf(i)}`;
    if (node.dataset.vector !== text) node.replaceChildren(vectorSymbol(name, i));
    node.dataset.vector = text;
    node.className = `handle ${name} ${this.isChosen(tip) ? "chosen" : ""} ${this.isLocked ? "fast" : ""}`;
    node.setAttribute("aria-pressed", String(this.isChosen(tip)));
    node.setAttribute("aria-label", phrase(strings.handle, { vector: `${name} ${nameOf(i)}`, x: fixed(at[0], 2), y: fixed(at[1], 2) }));
  }

  choose({ name, i }) {
    this.desk.look({ [name === "q" ? "query" : "key"]: i });
  }

  /** Held: the tip follows the hand by whole steps; let go, the change is done. */
  grab(event, node, tip) {
    if (event.button !== 0 || this.desk.held) return;
    event.preventDefault();
    node.focus({ preventScroll: true });
    this.desk.held = true;
    this.choose(tip);
    node.setPointerCapture(event.pointerId);
    const box = this.field.getBoundingClientRect();
    const scale = (2 * this.reach) / (box.width * 0.94);
    const start = { x: event.clientX, y: event.clientY, at: tip.at };
    const { name, i } = tip;
    const move = (moved) => {
      if (!this.isLocked) this.put(name, i, [start.at[0] + (moved.clientX - start.x) * scale, start.at[1] - (moved.clientY - start.y) * scale], start.at);
    };
    const end = (isKept) => {
      gone.abort();
      this.desk.release(isKept);
    };
    const gone = new AbortController();
    const on = (type, action, target = node) => target.addEventListener(type, action, { signal: gone.signal });
    on("pointermove", move);
    on("pointerup", () => end(true));
    on("pointercancel", () => end(false));
    on("keydown", (pressed) => pressed.key === "Escape" && end(false));
  }

  put(name, i, to, from) {
    const { state, step, header } = this.desk;
    const limit = Math.min(limitOf(name, header.limits), this.reach);
    const next = state.axes.reduce((found, axis, c) => {
      // Steps from where it stood, so that a number off the grid stays off it until it is moved.
      const moved = to[c] === from[c] ? from[c] : Math.round(to[c] / step) * step;
      return withCell(found, name, i, axis, fit(moved, limit));
    }, state);
    this.desk.preview(next);
  }

  press(event, tip) {
    const by = MOVES[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (this.isLocked) return;
    const { state, step, header } = this.desk;
    const far = event.shiftKey ? 5 * step : step;
    const limit = limitOf(tip.name, header.limits);
    const next = state.axes.reduce((found, axis, c) =>
      withCell(found, tip.name, tip.i, axis, fit(state[tip.name][tip.i][axis] + by[c] * far, limit)), state);
    this.desk.linger(next);
  }

  chooser() {
    const { state, strings } = this.desk;
    const d = state.w_q.length;
    const key = `${d} ${state.axes}`;
    if (key === this.chosenAxes) return;
    this.chosenAxes = key;
    if (d === 2) {
      this.axes.replaceChildren(el("span", { class: "quiet", text: strings.plane_all }));
      return;
    }
    const box = (c) => {
      const select = el("select", { "aria-label": strings[c === 0 ? "axis_across" : "axis_up"], "data-action": `axis-${c}` },
        Array.from({ length: d }, (_, axis) => el("option", { value: axis, text: String(axis), selected: axis === state.axes[c] })));
      select.addEventListener("change", () => this.turn(c, Number(select.value)));
      return select;
    };
    const held = this.axes.contains(this.axes.getRootNode().activeElement) ? this.axes.getRootNode().activeElement.dataset.action : null;
    this.axes.replaceChildren(...sentence(strings.plane_some, { across: box(0), up: box(1), d: String(d) }));
    if (held) this.axes.querySelector(`[data-action="${held}"]`).focus();
  }

  /** The same dimension on both axes would show a line: then they change places. */
  turn(c, axis) {
    const axes = [...this.desk.state.axes];
    if (axes[1 - c] === axis) axes[1 - c] = axes[c];
    axes[c] = axis;
    this.desk.look({ axes });
  }

  words() {
    const { strings, state } = this.desk;
    this.help.textContent = this.isLocked ? "" : strings.plane_help;
    const isSame = this.locked.dataset.mode === state.mode;
    this.locked.dataset.mode = state.mode;
    if (isSame) return;
    const free = el("button", { type: "button", class: "offer", text: strings.unlock,
      onclick: () => this.desk.settle(withMode(this.desk.state, "vectors", this.desk.header.limits)) });
    this.locked.replaceChildren(...(this.isLocked ? [strings.locked, " ", free] : []));
  }
}
