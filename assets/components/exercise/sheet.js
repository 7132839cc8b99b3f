// The sheet: what is given, and one part for each stage.
import { el } from "../shared/dom.js";
import { attention } from "../shared/attention.js";
import { given } from "./given.js";
import { Part } from "./part.js";

// What was typed on each sheet during this visit, by exercise: a change of page or language loses nothing.
const written = new Map();

export class Sheet {
  constructor(view) {
    this.view = view;
    this.count = 0;
    this.mount = Math.random().toString(36).slice(2, 8);
  }

  show(frame, theme) {
    const { arrays, verdict, revision, ...header } = frame;
    const signature = JSON.stringify([header, theme]);
    if (signature !== this.signature) this.build(header, arrays);
    this.signature = signature;
    if (verdict !== null) this.judge(verdict);
    this.view.dataset.revision = revision;
  }

  build(header, arrays) {
    this.header = header;
    if (!written.has(header.exercise)) written.set(header.exercise, new Map());
    const { q, k, v, allowed } = arrays;
    const stages = attention({ q, k, v, allowed, scale: 1 / Math.sqrt(q.cols) });
    this.context = {
      header, strings: header.strings, arrays, stages, answers: written.get(header.exercise), check: (stage) => this.ask(stage),
    };
    this.view.dataset.projector = String(Boolean(header.projector));
    this.parts = new Map(header.stages.map((stage, at) => [stage, new Part(this.context, stage, at)]));
    this.view.replaceChildren(given(this.context), el("div", { class: "parts" }, [...this.parts.values()].map((part) => part.node)));
  }

  /** Everything typed goes along: an answer may follow from an earlier one. */
  ask(stage) {
    const answers = Object.fromEntries([...this.parts].map(([name, part]) => [name, part.typed()]));
    this.count += 1;
    this.trigger?.("check", { token: `${this.mount}-${this.count}`, exercise: this.header.exercise, stage, answers });
  }

  judge(verdict) {
    if (verdict.exercise !== this.header.exercise || verdict.token === this.judged) return;
    this.judged = verdict.token;
    this.parts.get(verdict.stage)?.judge(verdict);
  }
}
