// The frame around the four steps: tabs, formula, Back and Next, keys, and what a choice or a hover lights up.
import { debounce, el } from "../shared/dom.js";
import { total } from "../shared/attention.js";
import { Place, STEPS } from "./place.js";
import { fly, marks } from "./flight.js";
import { revealAll } from "../shared/matrix.js";
import { fillNotice } from "../shared/notice.js";
import { formula } from "./formula.js";
import { tokenLabels } from "./parts.js";
import { project } from "./project.js";
import { score } from "./score.js";
import { stagesOf, weightsOnly } from "./stages.js";
import { softmax } from "./softmax.js";
import { sum } from "./sum.js";

const VIEWS = { project, score, softmax, sum };
const PAUSE = 300;
// A scale that was a float32 once is not exactly 1/√d.
const isRoot = ({ scale, d_head: d }) => Math.abs(scale * Math.sqrt(d) - 1) < 1e-6;
const typing = (event) => event.composedPath().some((node) => node.matches?.("input, textarea, select, [contenteditable=true]"));

export class Walk {
  constructor(view) {
    this.view = view;
    this.place = new Place();
    this.preview = null;
    this.tell = debounce(PAUSE, () => this.send());
    this.onPage = (event) => this.turn(event);
    this.onEscape = (event) => event.key === "Escape" && this.release();
    view.addEventListener("keydown", this.onEscape);
    new ResizeObserver(() => this.arrange()).observe(view);
  }

  arrive(setTriggerValue) {
    this.trigger = setTriggerValue;
    document.addEventListener("keydown", this.onPage);
  }

  leave() {
    this.trigger = null;
    document.removeEventListener("keydown", this.onPage);
  }

  send() {
    const message = this.trigger && this.place.message();
    if (message) this.trigger("moved", message);
  }

  /** How many matrices stand side by side: counted in the view's own letters, which a projector makes larger. */
  arrange() {
    if (!this.view.isConnected) return; // A picture that has left the page has no size.
    const ems = this.view.clientWidth / parseFloat(getComputedStyle(this.view).fontSize);
    const [medium, wide] = this.view.dataset.projector === "true" ? [50, 78] : [44, 60];
    const layout = ems >= wide ? "wide" : ems >= medium ? "medium" : "narrow";
    if (this.view.dataset.layout !== layout) this.view.dataset.layout = layout;
  }

  /** A new frame: draw it if anything on screen changes, else leave everything as it is. */
  show(frame, theme) {
    // Of a head of which only the weights are known, the frame says nothing of these.
    const { arrays, ...header } = { softcap: null, sink: null, ...frame };
    const fresh = header.content !== this.header?.content;
    const news = this.place.take(header);
    const { step, query, key, revision, ...rest } = header;
    const signature = JSON.stringify([rest, theme]);
    if (fresh) this.compute(header, arrays);
    const { q, v } = this.arrays;
    const { rows, cols } = this.stages.weights;
    this.place.fit({ queries: rows, keys: cols, dims: q ? Math.max(q.cols, v.cols) : 1 });
    this.header = header;
    if (signature !== this.signature) this.build(theme);
    else if (news) this.redraw();
    this.signature = signature;
    this.view.dataset.revision = header.revision;
  }

  compute(header, arrays) {
    this.arrays = arrays;
    this.preview = null;
    this.stages = arrays.q ? stagesOf(arrays, header) : weightsOnly(arrays);
  }

  context(theme) {
    const { header, arrays, stages } = this;
    const walk = this;
    return {
      header, arrays, stages, theme, strings: header.strings, matrices: new Map(),
      queries: tokenLabels(header.tokens), keys: tokenLabels(header.keys ?? header.tokens),
      isGiven: !arrays.q, isRoot: isRoot(header),
      hasKeys: (i) => !arrays.has_keys || Boolean(arrays.has_keys.data[i]),
      weightSum: (i) => total(stages.weights.row(i)) + stages.sink.at(i, 0),
      get place() { return walk.place.chosen; },
      get shown() { return walk.shown(); },
      choose: (changes, how) => walk.choose(changes, how),
      hover: (changes) => walk.hover(changes),
    };
  }

  shown() {
    return { ...this.place.chosen, ...(this.place.locked ? null : this.preview) };
  }

  build(theme) {
    const { strings, projector } = this.header;
    this.theme = theme;
    this.view.dataset.projector = String(Boolean(projector));
    this.arrange();
    const held = this.heldFocus();
    this.tabs = el("nav", { class: "tabs", "aria-label": strings.steps_label }, STEPS.map((step, at) =>
      el("button", { type: "button", class: "tab", "data-action": `tab-${step}`, "data-step": step, onclick: () => this.go(step) },
        el("span", { class: "tab-number", text: String(at + 1) }), " ", strings[`tab_${step}`])));
    this.formula = formula(strings, this.formulaFacts());
    const turner = (way, text) => el("button", { type: "button", class: `turn ${way}`, "data-action": way, title: text,
      onclick: () => this.by(way === "next" ? 1 : -1) });
    this.back = turner("back", strings.back_keys);
    this.next = turner("next", strings.next_keys);
    this.stage = el("div", { class: "stage" });
    this.hint = el("p", { class: "hint quiet", role: "status" });
    const notice = this.header.notice && el("p", { class: "notice" });
    if (notice) fillNotice(notice, this.header.notice, (offer) => this.trigger?.("open", offer));
    const bar = el("div", { class: "bar" }, this.back, this.formula, this.next);
    this.view.replaceChildren(...[this.tabs, bar, notice, this.stage, this.hint].filter(Boolean));
    this.redraw();
    this.restoreFocus(held);
  }

  formulaFacts() {
    const { scale, softcap, sink } = this.header;
    return this.arrays.q ? { isRoot: isRoot(this.header), scale, softcap, hasBias: "bias" in this.arrays, hasSink: sink !== null } : null;
  }

  /** The step's matrices anew; the frame around them is patched, so that its buttons keep the focus. */
  redraw() {
    const { strings } = this.header;
    const { step } = this.place.chosen;
    const held = this.stage.contains(this.active()) ? this.heldFocus() : null;
    const at = STEPS.indexOf(step);
    for (const tab of this.tabs.children) {
      if (tab.dataset.step === step) tab.setAttribute("aria-current", "step");
      else tab.removeAttribute("aria-current");
    }
    this.label(this.back, STEPS[at - 1], (text) => `◀ ${text}`, strings.back);
    this.label(this.next, STEPS[at + 1], (text) => `${text} ▶`, strings.next);
    this.formula.dataset.step = step;
    this.view.dataset.step = step;
    this.context_ = this.context(this.theme);
    this.drawn = VIEWS[step](this.context_);
    this.stage.replaceChildren(this.drawn.node);
    this.update();
    this.revealChosen();
    if (held) this.restoreFocus(held);
  }

  label(button, step, write, plain) {
    button.setAttribute("aria-disabled", String(step === undefined));
    button.textContent = write(step === undefined ? plain : this.header.strings[`tab_${step}`]);
  }

  update() {
    this.drawn.update(this.shown());
    this.hint.textContent = this.header.strings[this.place.locked ? "hint_locked" : "hint_free"];
    this.view.dataset.locked = String(this.place.locked);
  }

  revealChosen() {
    revealAll([...this.context_.matrices.values()].map((matrix) => {
      const { rows, cols, cell } = matrix.lights;
      return [matrix, cell?.[0] ?? rows[0]?.[0] ?? null, cell?.[1] ?? cols[0]?.[0] ?? null];
    }));
  }

  choose(changes, how) {
    this.place.choose(changes, how);
    this.preview = null;
    this.update();
    this.revealChosen();
    this.tell();
  }

  /** Drawn at most once a frame; nothing leaves the browser. */
  hover(changes) {
    // Cells drawn anew under a resting mouse report it again.
    if (JSON.stringify(changes) === JSON.stringify(this.preview)) return;
    this.preview = changes;
    if (this.place.locked || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.update();
    });
  }

  release() {
    if (!this.place.locked) return;
    this.place.locked = false;
    this.update();
  }

  by(steps) {
    const at = STEPS.indexOf(this.place.chosen.step) + steps;
    if (at >= 0 && at < STEPS.length) this.go(STEPS[at]);
  }

  go(step) {
    const before = this.place.chosen.step;
    if (step === before) return;
    const from = marks(this.stage);
    this.place.chosen.step = step;
    this.preview = null;
    this.redraw();
    if (STEPS.indexOf(step) === STEPS.indexOf(before) + 1) fly(this.view, this.stage, before, from);
    this.tell();
  }

  turn(event) {
    const by = { PageDown: 1, PageUp: -1 }[event.key];
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || typing(event)) return;
    event.preventDefault();
    this.by(by);
  }

  active() {
    return this.view.getRootNode().activeElement;
  }

  heldFocus() {
    const node = this.active();
    if (!node || !this.view.contains(node)) return null;
    const action = node.dataset.action;
    const key = node.closest("[data-matrix]")?.dataset.matrix;
    return { action, key, cursor: key && this.context_.matrices.get(key)?.cursor };
  }

  /** The same button, or the same cell; in another step its main matrix. */
  restoreFocus(held) {
    if (!held) return;
    const button = held.action && this.view.querySelector(`[data-action="${held.action}"]`);
    if (button) return void button.focus({ preventScroll: true });
    const matrix = this.context_.matrices.get(held.key) ?? this.context_.matrices.get(this.drawn.main);
    if (matrix) matrix.focus(...matrix.cursor);
  }
}
