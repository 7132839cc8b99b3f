// A matrix with its numbers: a keyboard-reachable grid in its own scroll frame. Only what is visible of a wide
// (over 32 columns) or tall (over 64 rows) matrix stands in the document; it is put in as the reader scrolls.
import { el, phrase } from "./dom.js";
import { exact } from "./numbers.js";
import { caption, extraCell, headRow, rowHeader, valueCell } from "./matrix_cells.js";

const [MOST_ROWS, MOST_COLUMNS] = [64, 32];
// Where one side comes and goes with scrolling, much of the other would only slow it down.
const [MOST_ROWS_OF_WIDE, MOST_COLUMNS_OF_TALL] = [24, 12];
const CLEAR = 4; // Pixels right of a revealed cell: frames that scroll together differ by their borders.
const range = (from, to) => Array.from({ length: to - from }, (_, k) => from + k);
const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Frames that scroll together along one axis ("scrollLeft" or "scrollTop"), so that aligned matrices stay aligned. */
export class ScrollGroup {
  constructor(axis) {
    this.axis = axis;
    this.frames = new Map();
  }

  join(frame) {
    this.frames.set(frame, frame[this.axis]);
    frame.addEventListener("scroll", () => this.follow(frame), { passive: true });
  }

  follow(leader) {
    const place = leader[this.axis];
    // What we set ourselves also arrives as a scroll event: it must not send a frame of another size back.
    if (Math.abs(place - this.frames.get(leader)) < 1) return;
    for (const frame of this.frames.keys()) {
      if (frame !== leader) frame[this.axis] = place;
      this.frames.set(frame, frame[this.axis]);
    }
  }
}

/**
 * spec: { key, name, tone, axes, meaning, values, stage, scale, scaleAt?(i, j), rowLabels, colLabels, strings, label,
 *   address?(i, j) → [stage, i, j], kind?(i, j) → "value" | "forbidden" | "nokeys", lead?, trail?, foot?, minCell?,
 *   mostRows?, bare?, sideways?, tallHead?, brief?, groups?: [ScrollGroup], choose?(i, j, "click" | "move"), hover?(place | null) }
 */
export class MatrixView {
  constructor(spec) {
    this.spec = spec;
    this.lights = { rows: [], cols: [], cell: null };
    this.cursor = [0, 0];
    const { rows, cols } = spec.values;
    this.most = {
      rows: cols > MOST_COLUMNS ? MOST_ROWS_OF_WIDE : MOST_ROWS, cols: rows > MOST_ROWS ? MOST_COLUMNS_OF_TALL : MOST_COLUMNS,
    };
    // Until the frame has a size, one cell of what comes and goes tells how large all are.
    this.window = { top: 0, bottom: rows > this.most.rows ? 1 : rows, left: 0, right: cols > this.most.cols ? 1 : cols };
    this.range = el("span", { class: "matrix-range" });
    this.grid = el("div", { role: "grid", class: "matrix-grid", "aria-label": spec.label });
    this.bands = el("div", { "aria-hidden": "true" });
    this.end = el("div", { class: "matrix-end", "aria-hidden": "true" });
    this.sheet = el("div", { class: "matrix-sheet" }, this.grid, this.bands, this.end);
    this.frame = el("div", { class: "matrix-frame" }, this.sheet);
    this.head = el("div");
    this.node = el("div", { class: `matrix ${spec.class ?? ""}`, "data-matrix": spec.key }, this.head, this.frame);
    this.listen();
    this.change({});
  }

  /** New numbers (or labels) in the same place. */
  change(parts) {
    Object.assign(this.spec, parts);
    const { spec, node } = this;
    const { rows, cols } = spec.values;
    const { sideways, tallHead, lead, trail, bare, choose, mostRows = 26 } = spec;
    const marks = { sideways, tallhead: sideways || tallHead, lead, trail, tall: rows > mostRows, bare, choosable: choose };
    for (const [name, on] of Object.entries(marks)) node.toggleAttribute(`data-${name}`, Boolean(on));
    node.style.setProperty("--chars", spec.scale.chars);
    node.style.setProperty("--most-rows", mostRows);
    if (spec.minCell) node.style.setProperty("--min-cell", `${spec.minCell}em`);
    this.sheet.style.setProperty("--rows", rows + (spec.foot ? 1 : 0));
    this.sheet.style.setProperty("--cols", cols);
    // The frame stays where it is: taking it out would lose its focus and its scroll position.
    const head = caption(spec, this.range);
    this.head.replaceWith(head);
    this.head = head;
    this.render();
  }

  listen() {
    for (const group of this.spec.groups ?? []) group.join(this.frame);
    this.frame.addEventListener("scroll", () => this.refresh(), { passive: true });
    new ResizeObserver(() => this.refresh()).observe(this.frame);
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
    for (const name of ["pointerover", "focusin"]) this.grid.addEventListener(name, nameNumber);
    if (!this.spec.choose) return;
    const place = (event) => {
      const cell = event.target.closest?.("[data-row]");
      return cell ? [Number(cell.dataset.row), Number(cell.dataset.col)] : null;
    };
    this.grid.addEventListener("click", (event) => {
      const at = place(event);
      if (at === null) return;
      this.cursor = at;
      this.spec.choose(...at, "click");
    });
    this.grid.addEventListener("pointerover", (event) => event.pointerType === "mouse" && this.spec.hover?.(place(event)));
    this.grid.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && this.spec.hover?.(null));
  }

  onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { rows, cols } = this.spec.values;
    let [i, j] = this.cursor;
    if (event.key in ARROWS) [i, j] = [i + ARROWS[event.key][0], j + ARROWS[event.key][1]];
    else if (event.key === "Home") j = 0;
    else if (event.key === "End") j = cols - 1;
    else if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    i = Math.min(Math.max(i, 0), rows - 1);
    j = Math.min(Math.max(j, 0), cols - 1);
    this.spec.choose?.(i, j, event.key === "Enter" || event.key === " " ? "click" : "move");
    this.focus(i, j);
  }

  /** How large a cell is, how much of the frame its sticky edges take, and how much it shows; null where it is hidden. */
  measures() {
    const { frame, grid, spec } = this;
    const [sheet, end, corner] = [this.sheet, this.end, grid.querySelector(".label")].map((node) => node.getBoundingClientRect());
    if (!corner.height || !frame.clientWidth) return null; // Some have no room for labels: their neighbour's serve both.
    const before = corner.width + (spec.lead ? grid.querySelector(".lead").getBoundingClientRect().width : 0);
    // From all cells together: what one is rounded by adds up over hundreds.
    const [width, height] = [end.left - sheet.left - before, end.top - sheet.top - corner.height];
    const line = height / (spec.values.rows + (spec.foot ? 1 : 0));
    return {
      x: { size: width / spec.values.cols, before, after: CLEAR, room: frame.clientWidth, at: frame.scrollLeft },
      y: { size: line, before: corner.height, after: spec.foot ? line : 0, room: frame.clientHeight, at: frame.scrollTop },
    };
  }

  /** Which rows and columns the frame shows when it stands at these measures. */
  windowAt({ x, y }) {
    const { rows, cols } = this.spec.values;
    const axis = (count, most, { at, size, room }) => {
      if (count <= most) return [0, count];
      const from = Math.min(Math.max(Math.floor(at / size), 0), count - 1);
      return [from, Math.min(from + Math.ceil(room / size) + 1, count)];
    };
    const [left, right] = axis(cols, this.most.cols, { ...x, room: x.room - x.before });
    const [top, bottom] = axis(rows, this.most.rows, y);
    return { left, right, top, bottom };
  }

  refresh(measures = this.measures()) {
    const next = measures === null ? this.window : this.windowAt(measures);
    if (Object.keys(next).every((side) => next[side] === this.window[side])) return;
    this.window = next;
    this.render();
  }

  render() {
    const { spec, grid, window: seen } = this;
    const { rows, cols } = spec.values;
    const held = grid.contains(grid.getRootNode().activeElement);
    const columns = range(seen.left, Math.min(seen.right, cols));
    grid.setAttribute("aria-rowcount", rows + 1 + (spec.foot ? 1 : 0));
    grid.setAttribute("aria-colcount", cols + 1 + (spec.lead ? 1 : 0) + (spec.trail ? 1 : 0));
    grid.style.setProperty("--top", seen.top);
    grid.style.setProperty("--left", seen.left);
    grid.replaceChildren(headRow(spec, columns), ...range(seen.top, Math.min(seen.bottom, rows)).map((i) => this.row(i, columns)));
    if (spec.foot) grid.append(this.foot(columns));
    const part = { first: columns[0], last: columns.at(-1), total: cols };
    this.range.textContent = cols > this.most.cols ? phrase(spec.strings.columns_range, part) : "";
    this.light(this.lights);
    if (held) this.focus(...this.cursor);
  }

  row(i, columns) {
    const { spec } = this;
    return el("div", { role: "row", class: "matrix-row", "aria-rowindex": i + 2 }, rowHeader(spec.rowLabels[i], i),
      spec.lead ? extraCell("lead", spec.lead, i) : null, columns.map((j) => valueCell(spec, i, j)),
      spec.trail && columns.at(-1) === spec.values.cols - 1 ? extraCell("trail", spec.trail, i) : null);
  }

  foot(columns) {
    const { foot, lead, values } = this.spec;
    return el("div", { role: "row", class: "matrix-row foot", "aria-rowindex": values.rows + 2 },
      el("div", { role: "rowheader", class: "label", title: foot.label, text: foot.label }),
      lead ? el("div", { role: "gridcell", class: "lead" }) : null, columns.map((j) => extraCell("sum", foot, j)));
  }

  /** lights: { rows: [[index, tone]], cols: [[index, tone]], cell: [i, j] | null, cursor?: [i, j] } */
  light(lights) {
    this.lights = lights;
    const toned = this.grid.querySelectorAll(".lit, .chosen");
    for (const node of toned) node.className = node.className.replace(/ (lit|chosen|tone-\w+)/g, "");
    for (const node of this.grid.querySelectorAll("[aria-selected]")) node.removeAttribute("aria-selected");
    for (const [i, tone] of lights.rows) this.litLabel(`[data-row-label="${i}"]`, tone);
    for (const [j, tone] of lights.cols) this.litLabel(`[data-col-label="${j}"]`, tone);
    const chosen = lights.cell && this.cellAt(...lights.cell);
    chosen?.classList.add("chosen");
    chosen?.setAttribute("aria-selected", "true");
    this.setCursor(...(lights.cursor ?? lights.cell ?? this.cursor));
    this.bands.replaceChildren(...this.bandNodes(lights), ...this.notes());
  }

  litLabel(selector, tone) {
    for (const node of this.grid.querySelectorAll(selector)) node.classList.add("lit", `tone-${tone}`);
  }

  bandNodes({ rows, cols }) {
    const seen = new Set();
    const band = (kind) => ([index, tone]) => {
      // Asker and answerer may be the same word: the second outline then runs inside the first.
      const inner = seen.has(`${kind}${index}`) ? "inner" : "";
      seen.add(`${kind}${index}`);
      return el("div", { class: `band ${kind} tone-${tone} ${inner}`, "data-band": `${kind}-${tone}`, style: { "--at": index } });
    };
    return [...rows.map(band("row")), ...cols.map(band("col"))];
  }

  notes() {
    if (!this.spec.kind) return [];
    return range(this.window.top, this.window.bottom).filter((i) => this.spec.kind(i, 0) === "nokeys")
      .map((i) => el("div", { class: "nokeys-note", text: this.spec.strings.nokeys, style: { "--at": i } }));
  }

  cellAt(i, j) {
    return this.grid.querySelector(`[data-row="${i}"][data-col="${j}"]`);
  }

  /** Exactly one cell of a grid is in the tab order. */
  setCursor(i, j) {
    this.cursor = [i, j];
    for (const node of this.grid.querySelectorAll('[tabindex="0"]')) node.setAttribute("tabindex", "-1");
    const cell = this.cellAt(i, j) ?? this.grid.querySelector("[data-row]");
    cell?.setAttribute("tabindex", "0");
  }

  /** Scroll inside the frame only, so far that the cell is clear of the sticky labels; null leaves an axis alone. */
  reveal(i, j) {
    revealAll([[this, i, j]]);
  }

  /** The measures that bring the cell into view. */
  measuresFor(i, j) {
    const found = this.measures();
    if (found === null) return null;
    const to = (place, { size, before, after, room, at }) => {
      const start = place * size;
      if (place === null || (start >= at && start + size + before + after <= at + room)) return at;
      return start < at ? start : start + size + before + after - room;
    };
    return { x: { ...found.x, to: to(j, found.x) }, y: { ...found.y, to: to(i, found.y) } };
  }

  scroll({ x, y }) {
    if (x.to !== x.at) this.frame.scrollLeft = x.to;
    if (y.to !== y.at) this.frame.scrollTop = y.to;
  }

  focus(i, j) {
    this.reveal(i, j);
    this.setCursor(i, j);
    const cell = this.cellAt(i, j);
    cell?.focus({ preventScroll: cell !== null && this.frame.scrollHeight > this.frame.clientHeight + 1 });
  }
}

/** Bring a cell of each matrix into view: [[view, i, j], …]. Measured, scrolled and drawn one after the other, for all. */
export function revealAll(places) {
  const known = places.map(([view, i, j]) => [view, view.measuresFor(i, j)]).filter(([, measures]) => measures !== null);
  for (const [view, measures] of known) view.scroll(measures);
  for (const [view, { x, y }] of known) view.refresh({ x: { ...x, at: x.to }, y: { ...y, at: y.to } });
}

/** The exact value as a hover text, for the one number that is pointed at: writing out thousands takes its time. */
function nameNumber({ target }) {
  const cell = target.closest?.(".cell[data-value]");
  if (cell && !cell.title) cell.title = exact(Number(cell.dataset.value));
}
