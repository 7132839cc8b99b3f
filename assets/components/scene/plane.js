// Vectors in a plane: arrows from the origin, and points; both axes on one scale.

import { el, svg, word } from "../shared/dom.js";
import { exact, fixed } from "../shared/numbers.js";
import { along, around, atEnds, box, FONT, settle } from "./labels.js";

const SIZE = 340;
const EDGE = 34;

function pairs(array) {
  return array ? Array.from({ length: array.rows }, (_, i) => [array.at(i, 0), array.at(i, 1)]) : [];
}

function arrow([x0, y0], [x1, y1], concept) {
  const angle = Math.atan2(y1 - y0, x1 - x0);
  const wing = (turn) => `${x1 - 9 * Math.cos(angle + turn)},${y1 - 9 * Math.sin(angle + turn)}`;
  return svg("g", { class: `arrow ${concept}` },
    svg("line", { x1: x0, y1: y0, x2: x1, y2: y1 }),
    svg("polygon", { points: `${x1},${y1} ${wing(0.42)} ${wing(-0.42)}` }));
}

/** The part of the plane that is drawn: the origin and everything else, both axes on one scale, no higher than needed. */
function placing(all) {
  const least = [0, 1].map((axis) => Math.min(0, ...all.map((xy) => xy[axis])));
  const most = [0, 1].map((axis) => Math.max(0, ...all.map((xy) => xy[axis])));
  const [across, upright] = [0, 1].map((axis) => most[axis] - least[axis]);
  const scale = (SIZE - 2 * EDGE) / Math.max(across, upright, 1e-9);
  const height = Math.min(SIZE, Math.max(SIZE / 2, upright * scale + 2 * EDGE));
  const place = ([x, y]) => [SIZE / 2 + (x - (least[0] + most[0]) / 2) * scale, height / 2 - (y - (least[1] + most[1]) / 2) * scale];
  return { place, room: { width: SIZE, height } };
}

/** Every arrow and point with its place, its label and its concept. */
function things({ arrow_labels: names, arrow_concepts: kinds, point_labels: others, point_concepts: their }, arrows, points, place) {
  const thing = (labels, concepts) => (xy, i) => ({ at: place(xy), text: labels[i], concept: concepts?.[i] ?? "key" });
  return { tips: arrows.map(thing(names, kinds)), dots: points.map(thing(others, their)) };
}

/** All words of the plane, each where it covers least. */
function words(origin, { tips, dots }, [xLabel, yLabel], room) {
  const taken = [...dots.map(({ at: [x, y] }) => box(x, y, 10, 10)), ...tips.flatMap(({ at }) => along(origin, at))];
  const axes = [["x", xLabel], ["y", yLabel]].filter(([, text]) => text).map(([axis, text]) => {
    const { x, y } = settle(text, atEnds(axis, origin, room), taken, room);
    return svg("text", { class: "axis-name", x, y: y + FONT * 0.35, "text-anchor": "middle", text });
  });
  const names = [...tips, ...dots].flatMap(({ at, text, concept }) => {
    const { x, y, leads } = settle(text, around(at), taken, room);
    const leader = leads ? [svg("line", { class: "leader", x1: at[0], y1: at[1], x2: x, y2: y + (y < at[1] ? FONT * 0.6 : -FONT * 0.6) })] : [];
    return [...leader, svg("text", { class: `name ${concept}`, x, y: y + FONT * 0.35, "text-anchor": "middle", text })];
  });
  return [...axes, ...names];
}

export function plane(picture) {
  const arrows = pairs(picture.arrays.arrows);
  const points = pairs(picture.arrays.points);
  const { place, room } = placing([...arrows, ...points]);
  const origin = place([0, 0]);
  const { tips, dots } = things(picture, arrows, points, place);
  const drawing = svg("svg", { viewBox: `0 0 ${room.width} ${room.height}`, role: "img", "aria-label": picture.label },
    svg("line", { class: "axis", x1: 4, x2: room.width - 4, y1: origin[1], y2: origin[1] }),
    svg("line", { class: "axis", x1: origin[0], x2: origin[0], y1: 4, y2: room.height - 4 }),
    tips.map(({ at, concept }) => arrow(origin, at, concept)),
    dots.map(({ at: [cx, cy], concept }) => svg("circle", { class: concept, cx, cy, r: 4.5 })),
    words(origin, { tips, dots }, [picture.x_label, picture.y_label], room));
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
