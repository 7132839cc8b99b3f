// The Heads picture: every head of the model as a small picture on one canvas, one of them enlarged beside it.
// Looking stays here; only opening a head is told to the server, which then shows it in Explore.

import { el, phrase } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";
import { Detail, written } from "./detail.js";
import { Grid, spokenName } from "./grid.js";
import { palette } from "./paint.js";

const SHEETS = ["shared/heatmap.css", "heads/heads.css"];

// Where the reader was when a head was opened, and what was marked: kept while the app is open in this window.
const kept = { mark: null, left: new Map() };

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The element around the picture that scrolls. */
function scroller(view) {
  let node = view.getRootNode().host ?? view.parentElement;
  while (node && !(node.scrollHeight > node.clientHeight && /auto|scroll/.test(getComputedStyle(node).overflowY))) node = node.parentElement;
  return node ?? document.scrollingElement;
}

function headsOf(frame) {
  let index = 0;
  return frame.layers.flatMap(({ number, n_heads: nHeads, n_kv_heads: nShared }, row) =>
    Array.from({ length: nHeads }, (_, head) => ({
      layer: number, head, row, column: head, kv: Math.floor((head * nShared) / nHeads),
      start: index++ * frame.rows * frame.columns,
    })));
}

class Heads {
  constructor(view) {
    this.view = view;
    this.preview = null;
    this.grid = new Grid({
      preview: (index) => this.look(index),
      leave: () => this.look(null),
      open: (index, isTouch) => this.press(index, isTouch),
    });
    this.detail = new Detail({ open: () => this.open(this.current()) });
    this.said = el("p", { class: "statement" });
    this.hint = el("p", { class: "hint quiet" });
    this.marks = el("div", { class: "marks-row", role: "group" });
    this.table = el("table", { class: "unseen" });
    this.view.append(this.said, this.hint, el("div", { class: "bar-row" }, this.marks, this.detail.legends),
      el("div", { class: "columns" }, el("section", { class: "whole" }, this.grid.node), this.detail.node),
      el("div", { class: "unseen-box" }, this.table));
    this.view.addEventListener("focusout", (event) => !this.view.contains(event.relatedTarget) && this.look(null));
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(view);
  }

  update(frame, levels, theme) {
    const heads = headsOf(frame);
    const style = getComputedStyle(this.view);
    const { means } = frame.arrays;
    this.frame = Object.assign(frame, { theme });
    this.view.dataset.projector = frame.projector;
    this.model = {
      frame, heads, levels, mark: frame.measures.includes(kept.mark) ? kept.mark : null,
      colours: palette(theme, style.getPropertyValue("--line").trim()),
      ink: style.getPropertyValue("--quiet").trim(), line: style.getPropertyValue("--line").trim(),
      found: { masked: levels.includes(0), nokeys: levels.includes(1) },
      indexOf: (row, column) => heads.findIndex((head) => head.row === row && head.column === column),
      valueOf: (index, name) => {
        const value = means.at(index, frame.measures.indexOf(name));
        return Number.isNaN(value) ? null : value;
      },
    };
    this.model.name = (index) => [spokenName(frame.strings, heads[index]), ...frame.measures.map((name) =>
      `${frame.strings[`measure_${name}`]} ${written(name, this.model.valueOf(index, name))}`)].join(", ");
    this.chosen = Math.max(0, heads.findIndex(({ layer, head }) => layer === frame.layer && head === frame.head));
    if (this.preview !== null && this.preview >= heads.length) this.preview = null;
    this.grid.home = this.preview ?? this.chosen;
    this.say();
    this.offerMarks();
    this.detail.update(this.model);
    this.grid.update(this.model);
    this.show();
    this.comeBack();
    this.view.dataset.revision = frame.revision;
    setTimeout(() => this.fillTable(), 0);
  }

  say() {
    const { strings, layers, block } = this.frame;
    const { heads } = this.model;
    const kind = heads.length === 1 ? "statement_one" : layers.length === 1 ? "statement_layer" : "statement";
    const counts = { heads: heads.length, layers: layers.length, layer: layers[0].number };
    const skips = layers.some(({ number }, row) => number !== row);
    this.said.textContent = phrase(strings[kind], counts);
    const touch = matchMedia("(hover: none)").matches;
    const pooled = Math.max(...block) > 1 ? phrase(strings.pooled, { rows: block[0], columns: block[1] }) : null;
    this.hint.replaceChildren(...[strings[touch ? "how_touch" : "how"], skips ? strings.skipped : null, this.frame.is_viewed ? strings.as_is : null, pooled]
      .filter((text) => text !== null).map((text, k) => el("span", { class: k > 0 ? "notice" : "", text: `${text} ` })));
  }

  offerMarks() {
    const { strings, measures } = this.frame;
    const label = el("span", { class: "quiet", text: strings.mark });
    this.marks.setAttribute("aria-label", strings.mark);
    this.marks.replaceChildren(label, ...[null, ...measures].map((name) => el("button", {
      type: "button", class: "mark-choice", "aria-pressed": String(name === this.model.mark), "data-mark": name ?? "none",
      text: strings[name === null ? "mark_none" : `short_${name}`], onclick: () => this.mark(name),
    })));
  }

  mark(name) {
    kept.mark = name;
    this.model.mark = name;
    for (const button of this.marks.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.mark === (name ?? "none")));
    this.grid.paint();
  }

  current() {
    return this.preview ?? this.chosen;
  }

  look(index) {
    if (!this.frame || index === this.preview) return;
    this.preview = index;
    this.show();
  }

  show() {
    this.grid.show(this.chosen, this.current());
    this.detail.show(this.current());
  }

  /** A tap looks first and opens the second time; a click opens at once. */
  press(index, isTouch) {
    if (isTouch && this.preview !== index) this.look(index);
    else this.open(index);
  }

  open(index) {
    const { layer, head } = this.model.heads[index];
    kept.left.set(this.place(), scroller(this.view).scrollTop);
    this.settled = true; // One more frame may come before the page is left.
    this.view.setAttribute("aria-busy", "true");
    this.send("opened", { stack: this.frame.stack, layer, head });
  }

  place() {
    return `${this.frame.model} ${this.frame.stack}`;
  }

  /** Back from a head that was opened here: the same place on the page, with the keyboard on that head. */
  comeBack() {
    const top = kept.left.get(this.place());
    if (top === undefined || this.settled) return;
    kept.left.delete(this.place());
    scroller(this.view).scrollTop = top;
    this.grid.focus(this.chosen);
  }

  fillTable() {
    const { strings, measures } = this.frame;
    const { heads, valueOf } = this.model;
    const head = el("tr", {}, el("th", { scope: "col", text: strings.axis_head }), ...measures.map((name) => el("th", { scope: "col", text: strings[`measure_${name}`] })));
    const rows = heads.map((each, index) => el("tr", {}, el("th", { scope: "row", text: spokenName(strings, each) }),
      ...measures.map((name) => el("td", { text: written(name, valueOf(index, name)) }))));
    this.table.replaceChildren(el("caption", { text: strings.table_name }), el("thead", {}, head), el("tbody", {}, ...rows));
  }

  resize() {
    const size = `${this.view.clientWidth} ${window.innerHeight}`;
    if (!this.model || !this.view.isConnected || size === this.size) return;
    this.size = size;
    this.grid.layout();
    this.detail.paint();
  }

  stop() {
    this.watcher.disconnect();
  }
}

export default function draw({ data, parentElement, setTriggerValue }) {
  const state = mounted(parentElement, SHEETS);
  const frame = unpack(data);
  state.latest = frame;
  Promise.all([inflated(frame.arrays.pictures.data), state.ready]).then(([levels]) => {
    // Of several frames on their way only the last is drawn; none where the reader has left already.
    if (state.latest !== frame || !state.view.isConnected) return;
    state.heads ??= new Heads(state.view);
    state.heads.send = setTriggerValue;
    state.heads.update(frame, levels, state.theme);
  });
  return () => state.heads?.stop();
}
