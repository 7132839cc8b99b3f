// Where labels stand in a plane: beside what they name, over nothing else. The best of a few spots each, one by one.

export const FONT = 13; // As in scene.css, in the drawing's own units.

const RINGS = [12, 22, 34, 48];
const TURNS = [0, 1, 7, 2, 6, 4, 3, 5, 0.5, 7.5, 1.5, 6.5, 3.5, 4.5, 2.5, 5.5].map((eighths) => (eighths * Math.PI) / 4);
const LEADER = 20; // Beyond this distance a line leads from the label to its point.

/** About how wide a text is drawn: Chinese characters are as wide as they are high. */
export function widthOf(text) {
  return Array.from(text).reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x2e7f ? 1 : 0.6), 0) * FONT;
}

export function box(cx, cy, width, height) {
  return { left: cx - width / 2, right: cx + width / 2, top: cy - height / 2, bottom: cy + height / 2 };
}

/** The boxes along a line, so that labels keep off it. */
export function along([x0, y0], [x1, y1]) {
  const n = Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / 5));
  return Array.from({ length: n + 1 }, (_, i) => box(x0 + ((x1 - x0) * i) / n, y0 + ((y1 - y0) * i) / n, 5, 5));
}

function over(a, b) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

function outside({ left, right, top, bottom }, { width, height }) {
  return [2 - left, right - width + 2, 2 - top, bottom - height + 2].reduce((sum, part) => sum + Math.max(0, part), 0);
}

/** The spot with the least over it; `taken` gains it. Each spot: { cx, cy, far }. */
export function settle(text, spots, taken, room) {
  const [width, height] = [widthOf(text) + 4, FONT * 1.25];
  let best = null;
  for (const spot of spots) {
    const place = box(spot.cx(width), spot.cy, width, height);
    const cost = taken.reduce((sum, other) => sum + over(place, other), 0) * 4 + outside(place, room) * 60 + spot.far;
    if (best === null || cost < best.cost) best = { ...spot, place, cost, x: spot.cx(width), y: spot.cy };
  }
  taken.push(best.place);
  return best;
}

/** Spots round a point: nearer ones first, those to the right and above it first. */
export function around([x, y]) {
  return RINGS.flatMap((ring) => TURNS.map((turn, order) => {
    const [dx, dy] = [Math.cos(turn), -Math.sin(turn)];
    // A wide label begins or ends at the ring, it isn't centred on it.
    return { cx: (width) => x + dx * (ring + width / 2 - 6), cy: y + dy * ring, far: ring * 1.5 + order * 0.5, leads: ring > LEADER };
  }));
}

/** Spots of a name at one end of an axis, above or below it, right or left of it. */
export function atEnds(axis, [x, y], room) {
  const gap = FONT * 0.9;
  const [right, left] = [(width) => room.width - 4 - width / 2, (width) => 4 + width / 2];
  const [after, before] = [(width) => x + 6 + width / 2, (width) => x - 6 - width / 2];
  const ends = axis === "x"
    ? [[right, y - gap], [right, y + gap], [left, y - gap], [left, y + gap]]
    : [[after, gap], [before, gap], [after, room.height - gap], [before, room.height - gap]];
  return ends.map(([cx, cy], order) => ({ cx, cy, far: order * 5 }));
}
