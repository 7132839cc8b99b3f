// Arcs between words: one cubic each, so that the browser can ease from any arc to any other.

import { svg } from "./dom.js";
import { percent } from "./numbers.js";

const THICKEST = 12;
const LEAST_LABELLED = 0.02;
const MOST_LABELS = 6;
const LEAST_AVOIDED = 2.5;

/** How high the top of an arc stands over the words: the further apart, the higher. */
function rise(distance, room) {
  const least = Math.min(22, room.height / 2);
  return least + (room.height - least - room.labelHeight) * Math.min(distance / Math.max(room.reach, 1), 1) ** 0.7;
}

/** The four points of the cubic. Words in one line: over the words. Two lines (cross-attention): down from those above. */
function points(arc, room) {
  const { height } = room;
  if (room.crossed) {
    return [[arc.from, 0], [arc.from, height / 2], [arc.to, height / 2], [arc.to, height]];
  }
  if (arc.self) {
    const top = height - Math.min(58, height * 0.75);
    return [[arc.from - 8, height], [arc.from - 34, top], [arc.from + 34, top], [arc.from + 8, height]];
  }
  const top = height - rise(Math.abs(arc.from - arc.to), room) / 0.75;
  return [[arc.from, height], [arc.from, top], [arc.to, top], [arc.to, height]];
}

function pointAt([a, b, c, d], t) {
  const s = 1 - t;
  return [0, 1].map((k) => s ** 3 * a[k] + 3 * s * s * t * b[k] + 3 * s * t * t * c[k] + t ** 3 * d[k]);
}

const number = (value) => value.toFixed(1);
const path = ([a, b, c, d]) =>
  `M${a.map(number).join(",")} C${b.map(number).join(",")} ${c.map(number).join(",")} ${d.map(number).join(",")}`;

const apart = (one, other) =>
  one.x + one.w < other.x || other.x + other.w < one.x || one.y + one.h < other.y || other.y + other.h < one.y;

/** Boxes along a thick arc, which labels of other arcs keep clear of. */
function trail(arc) {
  const half = arc.thickness / 2;
  return Array.from({ length: 33 }, (_, k) => {
    const [x, y] = pointAt(arc.points, k / 32);
    return { x: x - half, y: y - half, w: 2 * half, h: 2 * half, arc };
  });
}

/** The first place along the arc where its label meets nothing else and stays in the picture, or null. */
function place(arc, room, taken) {
  const w = arc.label.length * room.labelHeight * 0.52 + 6;
  const h = room.labelHeight;
  const inline = arc.self ? [0.5, 0.68, 0.32] : [0.5, 0.6, 0.7, 0.4, 0.8, 0.3, 0.88];
  for (const t of inline) {
    const [x, y] = pointAt(arc.points, t);
    const lift = room.crossed ? 0 : arc.thickness / 2 + h * 0.45;
    const aside = room.crossed ? arc.thickness / 2 + 2 : -w / 2;
    const box = { x: x + aside, y: y - lift - h / 2, w, h };
    const inside = box.x >= 0 && box.x + w <= room.width && box.y >= -1 && box.y + h <= room.height;
    if (inside && taken.every((other) => other.arc === arc || apart(box, other))) return box;
  }
  return null;
}

function placedLabels(arcs, room) {
  const taken = arcs.filter(({ thickness }) => thickness >= LEAST_AVOIDED).flatMap(trail);
  const strong = arcs.filter((arc) => arc.labelled && arc.weight >= LEAST_LABELLED).sort((a, b) => b.weight - a.weight);
  return strong.slice(0, MOST_LABELS).flatMap((arc) => {
    const box = place(arc, room, taken);
    if (box === null) return [];
    taken.push(box);
    return [{ ...box, text: arc.label, role: arc.role, strong: arc.weight >= 0.1 }];
  });
}

function reconcile(group, tag, count) {
  while (group.childNodes.length > count) group.lastChild.remove();
  while (group.childNodes.length < count) group.append(svg(tag));
  return [...group.childNodes];
}

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

function drawPaths(group, arcs) {
  reconcile(group, "path", arcs.length).forEach((node, k) => {
    const arc = arcs[k];
    const faint = arc.role === "idle" ? 0.2 + 0.35 * arc.share : 0.16 + 0.7 * Math.sqrt(arc.share);
    set(node, {
      class: `arc ${arc.role}`,
      d: path(arc.points),
      "stroke-width": number(arc.thickness),
      "stroke-opacity": arc.weight > 0 ? Math.min(faint, 0.9).toFixed(2) : 0,
      "data-query": arc.query,
      "data-key": arc.key,
      "data-weight": arc.weight,
    });
  });
}

function drawLabels(group, labels) {
  reconcile(group, "text", labels.length).forEach((node, k) => {
    const label = labels[k];
    node.textContent = label.text;
    set(node, {
      class: `arc-label ${label.role} ${label.strong ? "strong" : ""}`,
      x: number(label.x + label.w / 2),
      y: number(label.y + label.h * 0.78),
    });
  });
}

/**
 * { node, draw(arcs, room) }. An arc is { query, key, from, to (x in pixels), self, weight, role, labelled };
 * room is { width, height, reach (the longest distance), labelHeight, crossed }.
 */
export function createArcs() {
  const lines = svg("g");
  const labels = svg("g");
  const node = svg("svg", { class: "arcs", "aria-hidden": "true" }, lines, labels);
  return {
    node,
    draw(arcs, room) {
      set(node, { width: room.width, height: room.height, viewBox: `0 0 ${room.width} ${room.height}` });
      const shaped = arcs.map((arc) => {
        const share = Math.min(Math.max(arc.weight, 0), 1); // Own arrays may hold numbers that are no shares.
        const thickness = arc.role === "idle" ? 1 + 2.5 * share : 0.8 + THICKEST * share;
        return { ...arc, share, thickness, points: points(arc, room), label: percent(arc.weight) };
      });
      drawPaths(lines, shaped);
      drawLabels(labels, placedLabels(shaped, room));
    },
  };
}
