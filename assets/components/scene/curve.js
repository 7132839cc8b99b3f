// Lines over an axis, with a mark where the reader stands.

import { el, svg } from "../shared/dom.js";
import { exact, fixed } from "../shared/numbers.js";

const WIDTH = 520;
const HEIGHT = 260;
const ROOM = { left: 56, right: 24, top: 28, bottom: 46 };
const DASHES = ["none", "7 4", "2 4", "9 3 2 3", "1 2"];

function ticks(low, high) {
  const step = 10 ** Math.floor(Math.log10((high - low) / 2 || 1));
  const wide = [1, 2, 5, 10].map((k) => k * step).find((width) => (high - low) / width <= 5) ?? step * 10;
  const first = Math.ceil(low / wide - 1e-9);
  return Array.from({ length: Math.floor(high / wide + 1e-9) - first + 1 }, (_, i) => (first + i) * wide);
}

export function curve(picture) {
  const { arrays, lines, x_label: xLabel = "", y_label: yLabel = "", log_x: isLog = false, marked = null } = picture;
  const x = Array.from(arrays.x.data);
  const along = (value) => (isLog ? Math.log10(value) : value);
  const [low, high] = [Math.min(...x.map(along)), Math.max(...x.map(along))];
  const all = Array.from(arrays.y.data).filter(Number.isFinite);
  const [bottom, top] = [Math.min(0, ...all), Math.max(...all, 1e-9) * (picture.top ? 1 : 1.05)];
  const ceiling = picture.top ?? top;
  const px = (value) => ROOM.left + ((along(value) - low) / (high - low || 1)) * (WIDTH - ROOM.left - ROOM.right);
  const py = (value) => HEIGHT - ROOM.bottom - ((value - bottom) / (ceiling - bottom || 1)) * (HEIGHT - ROOM.top - ROOM.bottom);
  const marks = isLog ? x : ticks(low, high);
  const gap = Math.max(1, Math.ceil(marks.length / 8));
  const paths = lines.map((_, k) => svg("polyline", {
    class: `line line-${k}`, "stroke-dasharray": DASHES[k % DASHES.length],
    points: x.map((value, i) => `${px(value)},${py(arrays.y.at(k, i))}`).join(" "),
  }));
  const grid = ticks(bottom, ceiling).flatMap((value) => [
    svg("line", { class: "grid", x1: ROOM.left, x2: WIDTH - ROOM.right, y1: py(value), y2: py(value) }),
    svg("text", { class: "tick", x: ROOM.left - 6, y: py(value) + 4, "text-anchor": "end", text: String(Number(value.toPrecision(4))) }),
  ]);
  const below = marks.filter((_, i) => i % gap === 0).map((value) =>
    svg("text", { class: "tick", x: px(value), y: HEIGHT - ROOM.bottom + 18, "text-anchor": "middle", text: String(Number(value.toPrecision(4))) }));
  const here = marked === null ? [] : [svg("line", { class: "here", x1: px(marked), x2: px(marked), y1: ROOM.top, y2: HEIGHT - ROOM.bottom })];
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": picture.label },
    grid, below, here, paths,
    svg("text", { class: "axis-name", x: (WIDTH + ROOM.left) / 2, y: HEIGHT - 6, "text-anchor": "middle", text: xLabel }),
    svg("text", { class: "axis-name", x: 4, y: 16, text: yLabel }));
  const key = el("ul", { class: "key" }, lines.map((name, k) =>
    el("li", {}, svg("svg", { viewBox: "0 0 28 8", "aria-hidden": "true" }, svg("line", { class: `line line-${k}`, "stroke-dasharray": DASHES[k % DASHES.length], x1: 0, x2: 28, y1: 4, y2: 4 })),
      el("span", { text: name }))));
  return el("div", { class: "curve-room" }, key, drawing, table(picture, x));
}

function table({ arrays, lines, strings, x_label: xLabel }, x) {
  return el("details", {}, el("summary", { text: strings.as_table }), el("div", { class: "scroll" }, el("table", { class: "coordinates" },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", text: xLabel ?? "" }), lines.map((name) => el("th", { scope: "col", text: name })))),
    el("tbody", {}, x.map((value, i) => el("tr", {}, el("th", { scope: "row", text: String(Number(value.toPrecision(6))) }),
      lines.map((_, k) => el("td", { title: exact(arrays.y.at(k, i)), text: fixed(arrays.y.at(k, i), 3) }))))))));
}
