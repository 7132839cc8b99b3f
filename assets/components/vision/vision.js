// A head's row over the picture that the model saw: the more attention a patch gets, the clearer it shows.

import { el, phrase } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { exact, percent } from "../shared/numbers.js";
import { mounted } from "../shared/theme.js";

const views = new WeakMap();
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const VEIL = "#0c0e16"; // What lies over a patch that gets nothing; the one that gets most shows clear.
const DARKEST = 0.88;

class Vision {
  constructor(view) {
    this.view = view;
    this.hovered = null;
    this.plain = el("canvas", { class: "plain" });
    this.shade = el("canvas", { class: "shade", role: "application", tabindex: "0" });
    this.frameNode = el("div", { class: "mark", "aria-hidden": "true" });
    this.room = el("div", { class: "room" }, this.plain, this.shade, this.frameNode);
    this.specials = el("div", { class: "specials", role: "group" });
    this.said = el("p", { class: "said", role: "status" });
    this.legend = el("div", { class: "legend" });
    this.list = el("ol", { class: "strongest" });
    this.listTitle = el("h2");
    this.check = el("p", { class: "check" });
    view.append(el("div", { class: "sides" }, this.room,
      el("div", { class: "words" }, this.specials, this.said, this.listTitle, this.list, this.legend)), this.check);
    this.listen();
  }

  listen() {
    this.shade.addEventListener("pointermove", (event) => this.hover(this.patchAt(event)));
    this.shade.addEventListener("pointerleave", () => this.hover(null));
    this.shade.addEventListener("click", (event) => this.choose(this.patchAt(event)));
    this.shade.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.choose(null);
      else if (event.key in MOVES) this.step(...MOVES[event.key]);
      else if (event.key === "Enter" && this.hovered !== null) this.choose(this.hovered);
      else return;
      event.preventDefault();
    });
  }

  patchAt(event) {
    const { grid, first } = this.frame;
    const box = this.shade.getBoundingClientRect();
    const [i, j] = [(event.clientY - box.top) / box.height * grid[0], (event.clientX - box.left) / box.width * grid[1]].map(Math.floor);
    return i >= 0 && j >= 0 && i < grid[0] && j < grid[1] ? first + i * grid[1] + j : null;
  }

  step(down, right) {
    const { grid, first } = this.frame;
    const here = (this.hovered ?? this.frame.token ?? first) - first;
    const [i, j] = here < 0 || here >= grid[0] * grid[1] ? [0, 0] : [Math.floor(here / grid[1]), here % grid[1]];
    const row = Math.min(Math.max(i + down, 0), grid[0] - 1);
    const column = Math.min(Math.max(j + right, 0), grid[1] - 1);
    this.hover(first + row * grid[1] + column);
  }

  /** A second click on the same token, or Esc, lets it go. */
  choose(token) {
    this.send(token === this.frame.token ? null : token);
  }

  hover(token) {
    if (token === this.hovered) return;
    this.hovered = token;
    this.draw();
  }

  update(frame, theme) {
    this.frame = frame;
    this.theme = theme;
    this.view.dataset.projector = frame.projector;
    const [height, width] = frame.size;
    for (const canvas of [this.plain, this.shade]) [canvas.width, canvas.height] = [width, height];
    const image = new ImageData(width, height);
    const rgb = frame.arrays.image.data;
    for (let i = 0; i < width * height; i += 1) image.data.set([rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2], 255], 4 * i);
    this.plain.getContext("2d").putImageData(image, 0, 0);
    this.specials.setAttribute("aria-label", frame.strings.specials);
    this.legend.replaceChildren(el("span", { text: "0" }), el("span", { class: "ramp", "aria-hidden": "true" }), el("span", { text: percent(this.most(), 1) }));
    this.draw();
    this.view.dataset.revision = frame.revision;
  }

  /** Whose row (or, looking the other way, column) is shown: what is pointed at, else what is locked. */
  shown() {
    return this.hovered ?? this.frame.token;
  }

  weightsOf(token) {
    const { weights } = this.frame.arrays;
    return this.frame.direction === "asks" ? Array.from(weights.row(token)) : weights.column(token);
  }

  most() {
    const { weights } = this.frame.arrays;
    return weights.data.reduce((most, value) => Math.max(most, value), 0);
  }

  draw() {
    const { first, grid, strings } = this.frame;
    const token = this.shown();
    const context = this.shade.getContext("2d");
    context.clearRect(0, 0, this.shade.width, this.shade.height);
    this.shade.setAttribute("aria-label", strings.picture);
    const weights = token === null ? null : this.weightsOf(token);
    if (weights !== null) this.paint(context, weights);
    this.mark(token === null ? null : token - first);
    this.buttons(weights);
    const name = token === null ? "" : this.frame.names[token];
    this.said.textContent = token === null ? strings.hint : phrase(this.frame.direction === "asks" ? strings.asks : strings.answers, { name });
    this.listTitle.textContent = weights === null ? "" : strings.strongest;
    const order = weights === null ? [] : weights.map((weight, i) => [weight, i]).sort((a, b) => b[0] - a[0]).slice(0, 8);
    this.list.replaceChildren(...order.map(([weight, i]) => el("li", { title: exact(weight), text: `${this.frame.names[i]}  ${percent(weight, 1)}` })));
    this.check.className = `check ${this.frame.check.passed ? "passed" : "failed"}`;
    this.check.textContent = `${this.frame.check.passed ? "✓" : "✗"} ${this.frame.check.sentence}`;
    this.shade.dataset.grid = grid.join("×");
  }

  /** The scale ends at the head's largest weight: written in the legend, the same for all rows of this head. */
  paint(context, weights) {
    const { first, grid } = this.frame;
    const [tall, wide] = [this.shade.height / grid[0], this.shade.width / grid[1]];
    const most = this.most();
    context.fillStyle = VEIL;
    for (let i = 0; i < grid[0] * grid[1]; i += 1) {
      const share = weights[first + i] / (most || 1);
      const [row, column] = [Math.floor(i / grid[1]), i % grid[1]];
      context.globalAlpha = DARKEST * (1 - Math.sqrt(share));
      context.fillRect(column * wide, row * tall, Math.ceil(wide), Math.ceil(tall));
    }
  }

  mark(patch) {
    const { grid } = this.frame;
    const isPatch = patch !== null && patch >= 0 && patch < grid[0] * grid[1];
    this.frameNode.hidden = !isPatch;
    if (!isPatch) return;
    const [row, column] = [Math.floor(patch / grid[1]), patch % grid[1]];
    Object.assign(this.frameNode.style, {
      left: `${(column / grid[1]) * 100}%`, top: `${(row / grid[0]) * 100}%`, width: `${100 / grid[1]}%`, height: `${100 / grid[0]}%`,
    });
  }

  buttons(weights) {
    const { first, grid, names, token } = this.frame;
    const places = names.map((_, i) => i).filter((i) => i < first || i >= first + grid[0] * grid[1]);
    this.specials.replaceChildren(...places.map((i) => el("button", {
      type: "button", class: "special", "aria-pressed": String(i === token), onclick: () => this.choose(i),
    }, names[i], weights === null ? null : el("span", { class: "share", text: ` ${percent(weights[i], 1)}` }))));
  }
}

export default function vision({ parentElement, data, setTriggerValue }) {
  const state = mounted(parentElement, ["vision/vision.css"]);
  const frame = unpack(data);
  state.latest = frame.revision;
  state.ready.then(() => {
    if (state.latest !== frame.revision) return;
    const shown = views.get(state.view) ?? new Vision(state.view);
    views.set(state.view, shown);
    shown.send = (token) => setTriggerValue("choice", { token });
    shown.update(frame, state.theme);
  });
}
