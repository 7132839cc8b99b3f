// One head enlarged, with its measures.

import { weightGradient } from "../shared/colour.js";
import { el, phrase } from "../shared/dom.js";
import { makeLegend } from "../shared/heatmap.js";
import { exact, fixed, percent } from "../shared/numbers.js";
import { fillTo, single, upright } from "../shared/words.js";
import { brush } from "./paint.js";

/** Entropy is no share of anything: three decimals. The others are weights: percent. */
export const written = (name, value) => (value === null ? "–" : name === "entropy" ? fixed(value, 3) : percent(value));

function makeMeasure() {
  return el("tr", {},
    el("th", { scope: "row" }),
    el("td", { class: "track" }, el("span", { class: "bar" })),
    el("td", { class: "figure" }),
    el("td", { class: "counted quiet" }));
}

export class Detail {
  /** calls: open() */
  constructor(calls) {
    this.title = el("h2");
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.body = el("tbody");
    this.group = el("p", { class: "note quiet" });
    this.about = el("p", { class: "note about quiet" });
    this.open = el("button", { type: "button", class: "open", onclick: () => calls.open() });
    this.legend = makeLegend();
    this.aside = el("span", { class: "quiet aside" });
    this.hatched = el("div", { class: "hatched quiet" });
    const detail = el("section", { class: "detail" },
      el("div", { class: "detail-head" }, this.title, this.open),
      el("div", { class: "enlarged" }, this.canvas),
      el("div", { class: "facts" }, el("table", { class: "measures" }, this.body), this.group));
    this.legends = el("div", { class: "legends" }, this.aside, this.hatched, this.legend);
    this.node = el("div", { class: "beside" }, detail, this.about);
  }

  /** model: as for the grid. */
  update(model) {
    this.model = model;
    const { strings, measures, theme } = model.frame;
    this.open.textContent = strings.open;
    this.aside.textContent = strings.aside;
    const sink = measures.includes("sink") ? "_sink" : "";
    this.about.textContent = `${strings[`about_entropy${sink}`]} ${strings.about_mass}`;
    this.legend.firstElementChild.style.background = `linear-gradient(to right, ${weightGradient(theme)})`;
    this.legend.setAttribute("aria-label", strings.legend_name);
    this.hatched.replaceChildren(...["masked", "nokeys"].filter((kind) => model.found[kind]).map((kind) =>
      el("span", {}, el("span", { class: `swatch ${kind}` }), strings[`legend_${kind}`])));
    fillTo(this.body, measures.length, makeMeasure);
  }

  show(index) {
    this.shown = index;
    const { frame, heads } = this.model;
    const { layer, head, kv, row } = heads[index];
    const { strings, layers } = frame;
    const { n_heads: nHeads, n_kv_heads: nShared } = layers[row];
    this.title.textContent = phrase(strings.title, { layer, head });
    frame.measures.forEach((name, k) => this.measure(this.body.children[k], name, index, k));
    const group = nHeads / nShared;
    this.group.textContent = nShared < nHeads ? phrase(strings.kv_shared, { kv, first: kv * group, last: (kv + 1) * group - 1 }) : "";
    this.group.hidden = nShared === nHeads;
    this.paint();
  }

  measure(line, name, index, k) {
    const { frame, valueOf } = this.model;
    const { strings, n_queries: all, arrays } = frame;
    const value = valueOf(index, name);
    const counted = arrays.counted.at(index, k);
    const [label, track, figure, rows] = line.children;
    line.dataset.measure = name;
    label.textContent = strings[`measure_${name}`];
    track.firstElementChild.hidden = value === null;
    track.firstElementChild.style.width = `${Math.min(value ?? 0, 1) * 100}%`;
    figure.textContent = written(name, value);
    figure.title = value === null ? "" : exact(value);
    rows.textContent = counted === 0 ? strings.rows_none : phrase(strings.rows, { counted, all });
  }

  /** The head as large as the panel, its words beside it where they find room. */
  paint() {
    if (this.shown === undefined) return;
    const { frame, heads, levels, colours, ink } = this.model;
    const scale = Math.max(1, Math.round(window.devicePixelRatio));
    const box = this.canvas.parentElement;
    const size = parseFloat(getComputedStyle(box).fontSize);
    const room = Math.min(box.clientWidth, size * 23);
    const pen = this.canvas.getContext("2d");
    const font = `${size * 0.78}px ${getComputedStyle(box).fontFamily}`;
    pen.font = font;
    const side = this.gutter(pen, frame.asking, room, size);
    const top = this.gutter(pen, frame.answering, room, size);
    const aspect = Math.min(Math.max(frame.n_queries / frame.n_keys, 0.4), 1.6);
    const width = Math.floor(room - side);
    const height = Math.floor(Math.min(width * aspect, size * 24));
    Object.assign(this.canvas, { width: (side + width) * scale, height: (top + height) * scale });
    Object.assign(this.canvas.style, { width: `${side + width}px`, height: `${top + height}px` });
    const image = new ImageData(width * scale, height * scale);
    brush(image, frame, { width: width * scale, height: height * scale }, colours, scale)({ levels, start: heads[this.shown].start, columns: frame.columns }, 0, 0);
    pen.putImageData(image, side * scale, top * scale);
    pen.scale(scale, scale);
    Object.assign(pen, { font, fillStyle: ink, textBaseline: "middle" });
    this.words(pen, { side, top, width, height });
  }

  gutter(pen, tokens, room, size) {
    if (tokens === null || room < size * 14) return 0;
    const longest = Math.max(...tokens.map((token) => pen.measureText(token).width)) + 8;
    return Math.ceil(Math.max(Math.min(longest, room * 0.24), size * 1.3));
  }

  /** A word over its column: turned, or where its script stands upright, sign under sign. */
  over(pen, token, fitted, x, y) {
    const signs = [...token];
    const step = parseFloat(pen.font) * 1.1;
    pen.save();
    pen.translate(x, y);
    if (single(token) || (upright(token) && signs.length * step <= y + 5)) {
      pen.textAlign = "center";
      const stacked = single(token) ? [token] : signs;
      stacked.forEach((sign, k) => pen.fillText(sign, 0, (k + 0.5 - stacked.length) * step));
    } else {
      pen.rotate(-Math.PI / 2);
      pen.fillText(fitted, 0, 0);
    }
    pen.restore();
  }

  words(pen, { side, top, width, height }) {
    const { asking, answering } = this.model.frame;
    const fit = (text, most) => {
      if (pen.measureText(text).width <= most) return text;
      let kept = [...text];
      while (kept.length > 1 && pen.measureText(`${kept.join("")}…`).width > most) kept = kept.slice(0, -1);
      return `${kept.join("")}…`;
    };
    if (side > 0) {
      pen.textAlign = "right";
      asking.forEach((token, i) => pen.fillText(fit(token, side - 6), side - 5, top + ((i + 0.5) * height) / asking.length));
    }
    if (top > 0) {
      pen.textAlign = "left";
      answering.forEach((token, j) => this.over(pen, token, fit(token, top - 6), side + ((j + 0.5) * width) / answering.length, top - 5));
    }
  }
}
