// What stands above the work: how the vectors are made, the sizes, the mask, ready-made numbers, undo.
import { el } from "../shared/dom.js";
import { same, withMode, withSize } from "./model.js";

const STEPS = [0.01, 0.1, 0.5, 1];

export class Bar {
  constructor(desk) {
    this.desk = desk;
    const { strings } = desk;
    this.modes = ["vectors", "matrices"].map((mode) => this.button(`mode-${mode}`, strings[`mode_${mode}`], () =>
      desk.settle(withMode(desk.state, mode, desk.header.limits))));
    this.causal = el("input", { type: "checkbox", "data-action": "causal" });
    this.causal.addEventListener("change", () => desk.settle({ ...desk.state, is_causal: this.causal.checked }));
    this.node = el("div", { class: "bar" },
      el("div", { class: "group joined", role: "group", "aria-label": strings.mode_label }, this.modes),
      this.stepper("n", strings.tokens, strings.fewer_tokens, strings.more_tokens),
      this.stepper("d", strings.dims, strings.fewer_dims, strings.more_dims),
      el("label", { class: "group" }, this.causal, strings.causal),
      this.stepChoice(), this.presets(), this.random(), this.undo());
  }

  button(action, text, onclick, more = {}) {
    return el("button", { type: "button", class: "press", "data-action": action, text, onclick, ...more });
  }

  sizes() {
    return { n: this.desk.state.x.length, d: this.desk.state.w_q.length };
  }

  stepper(name, label, fewer, more) {
    const by = (change) => {
      const { n, d } = { ...this.sizes(), [name]: this.sizes()[name] + change };
      const [least, most] = this.desk.header.sizes[name];
      if (this.sizes()[name] + change >= least && this.sizes()[name] + change <= most) {
        this.desk.settle(withSize(this.desk.state, n, d));
      }
    };
    const count = el("b", { "aria-live": "polite" });
    const less = this.button(`less-${name}`, "−", () => by(-1), { "aria-label": fewer, title: fewer });
    const plus = this.button(`more-${name}`, "+", () => by(1), { "aria-label": more, title: more });
    this[name] = { count, less, plus };
    return el("div", { class: "group stepper", role: "group", "aria-label": label }, el("span", { text: label }), less, count, plus);
  }

  stepChoice() {
    const { strings } = this.desk;
    const select = el("select", { "data-action": "step", title: strings.step_help },
      STEPS.map((step) => el("option", { value: step, text: String(step), selected: step === this.desk.step })));
    select.addEventListener("change", () => (this.desk.step = Number(select.value)));
    return el("label", { class: "group", title: strings.step_help }, strings.step, select);
  }

  presets() {
    const { desk } = this;
    const { strings, presets } = desk.header;
    this.ready = presets.map(({ name, label, state }) =>
      this.button(`preset-${name}`, label, () => desk.take({ ...state, seed: desk.state.seed })));
    return el("div", { class: "group presets", role: "group", "aria-label": strings.presets }, el("span", { text: strings.presets }), this.ready);
  }

  random() {
    const { desk } = this;
    const { strings } = desk;
    this.seed = el("input", { type: "text", inputmode: "numeric", class: "seed", "data-action": "seed", "aria-label": strings.seed,
      maxlength: 10, size: 5, autocomplete: "off" });
    const seed = () => {
      const value = Number(this.seed.value.normalize("NFKC"));
      return Number.isInteger(value) && value >= 0 && value <= desk.header.max_seed ? value : null;
    };
    const go = () => {
      const number = seed();
      this.seed.setAttribute("aria-invalid", String(number === null));
      if (number !== null) desk.draw(number);
    };
    this.seed.addEventListener("keydown", (event) => event.key === "Enter" && go());
    return el("div", { class: "group" }, el("label", { class: "group" }, strings.seed, this.seed),
      this.button("draw", strings.draw, go, { title: strings.draw_help }));
  }

  undo() {
    const { desk } = this;
    const { strings } = desk;
    this.ways = ["undo", "redo"].map((way) =>
      this.button(way, strings[way], () => desk.turn(way), { title: strings[`${way}_keys`] }));
    this.reset = this.button("reset", strings.reset, () => desk.reset(), { title: strings.reset_help });
    return el("div", { class: "group" }, this.ways, this.reset);
  }

  update() {
    const { desk } = this;
    const { state, header, history } = desk;
    const sizes = this.sizes();
    this.modes.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.action === `mode-${state.mode}`)));
    this.causal.checked = state.is_causal;
    for (const name of ["n", "d"]) {
      const { count, less, plus } = this[name];
      if (count.textContent !== String(sizes[name])) count.textContent = String(sizes[name]);
      less.setAttribute("aria-disabled", String(sizes[name] <= header.sizes[name][0]));
      plus.setAttribute("aria-disabled", String(sizes[name] >= header.sizes[name][1]));
    }
    this.ready.forEach((button, at) => button.setAttribute("aria-pressed", String(isPreset(state, header.presets[at].state))));
    if (this.seed.getRootNode().activeElement !== this.seed) this.seed.value = String(state.seed);
    this.ways[0].setAttribute("aria-disabled", String(history.past.length === 0));
    this.ways[1].setAttribute("aria-disabled", String(history.future.length === 0));
    this.reset.setAttribute("aria-disabled", String(same(state, history.start)));
  }
}

/** The preset's numbers, whichever pair is looked at. */
export function isPreset(state, preset) {
  const plain = ({ query, key, axes, seed, ...rest }) => rest;
  const used = ({ mode, x, w_q, w_k, w_v, q, k, v, ...rest }) => (mode === "vectors" ? { ...rest, mode, q, k, v } : { ...rest, mode, x, w_q, w_k, w_v });
  return same(ordered(used(plain(state))), ordered(used(plain(preset))));
}

const ordered = (value) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
