// Vectors in a plane: arrows from the origin, and points; both axes on one scale.

import { el, svg, word } from "../shared/dom.js";
import { exact, fixed } from "../shared/numbers.js";

const SIZE = 340;
const EDGE = 40;

function pairs(array) {
  return array ? Array.from({ length: array.rows }, (_, i) => [array.at(i, 0), array.at(i, 1)]) : [];
}

function arrow([x, y], place, concept) {
  const [x0, y0] = place([0, 0]);
  const [x1, y1] = place([x, y]);
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const wing = (turn) => `${x1 - 9 * Math.cos(angle + turn)},${y1 - 9 * Math.sin(angle + turn)}`;
  return svg("g", { class: `arrow ${concept}` },
    svg("line", { x1: x0, y1: y0, x2: x1, y2: y1 }),
    svg("polygon", { points: `${x1},${y1} ${wing(0.42)} ${wing(-0.42)}` }));
}

/** Labels that would lie on each other move down, one line each. */
function spread(labels) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((one, i) => {
    for (const before of labels.slice(0, i)) {
      if (Math.abs(before.x - one.x) < 56 && one.y - before.y < 15 && one.y - before.y > -15) one.y = before.y + 15;
    }
  });
  return labels;
}

export function plane(picture) {
  const arrows = pairs(picture.arrays.arrows);
  const points = pairs(picture.arrays.points);
  const reach = Math.max(...[...arrows, ...points].flat().map(Math.abs), 1e-9) * 1.12;
  const scale = (SIZE / 2 - EDGE) / reach;
  const place = ([x, y]) => [SIZE / 2 + x * scale, SIZE / 2 - y * scale];
  const concept = (names, i) => names?.[i] ?? "key";
  const labels = spread([
    ...arrows.map((xy, i) => ({ xy, text: picture.arrow_labels[i], concept: concept(picture.arrow_concepts, i) })),
    ...points.map((xy, i) => ({ xy, text: picture.point_labels[i], concept: concept(picture.point_concepts, i) })),
  ].map(({ xy, text, concept: name }) => {
    const [x, y] = place(xy);
    return { x: x + (xy[0] < 0 ? -7 : 7), y: y + (xy[1] < 0 ? 13 : -6), end: xy[0] < 0, text, concept: name };
  }));
  const axes = [[[-reach, 0], [reach, 0]], [[0, -reach], [0, reach]]].map((ends) => {
    const [[x1, y1], [x2, y2]] = ends.map(place);
    return svg("line", { class: "axis", x1, y1, x2, y2 });
  });
  const drawing = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": picture.label },
    axes,
    svg("text", { class: "axis-name", x: SIZE - 6, y: SIZE / 2 - 6, "text-anchor": "end", text: picture.x_label ?? "" }),
    svg("text", { class: "axis-name", x: SIZE / 2 + 6, y: 14, text: picture.y_label ?? "" }),
    arrows.map((xy, i) => arrow(xy, place, concept(picture.arrow_concepts, i))),
    points.map((xy, i) => {
      const [cx, cy] = place(xy);
      return svg("circle", { class: concept(picture.point_concepts, i), cx, cy, r: 4.5 });
    }),
    labels.map(({ x, y, end, text, concept: name }) =>
      svg("text", { class: `name ${name}`, x, y, "text-anchor": end ? "end" : "start", text })));
  return el("div", { class: "plane-room" }, drawing, table(picture, arrows, points));
}

/** The same numbers for who reads them. */
function table({ arrow_labels: names = [], point_labels: others = [], x_label: x = "1", y_label: y = "2", strings }, arrows, points) {
  const row = (label, [a, b]) => el("tr", {}, el("th", { scope: "row" }, word(label)),
    el("td", { title: exact(a), text: fixed(a, 2) }), el("td", { title: exact(b), text: fixed(b, 2) }));
  return el("details", {}, el("summary", { text: strings.as_table }), el("div", { class: "scroll" }, el("table", { class: "coordinates" },
    el("thead", {}, el("tr", {}, el("th"), el("th", { scope: "col", text: x }), el("th", { scope: "col", text: y }))),
    el("tbody", {}, arrows.map((xy, i) => row(names[i], xy)), points.map((xy, i) => row(others[i], xy))))));
}
