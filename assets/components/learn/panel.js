// One chart against the step: lines, a cursor at the shown frame, a mark where the pattern appears.

import { el, svg } from "../shared/dom.js";

const place = (value) => value.toFixed(1);

function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
}

/** Two to five round steps from 0 to `last`. */
export function roundSteps(last) {
  const rough = last / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const unit = [1, 2, 5, 10].map((k) => k * power).find((step) => last / step <= 5);
  return Array.from({ length: Math.floor(last / unit) + 1 }, (_, k) => k * unit);
}

export class Panel {
  /** series: [{ name, of: frame → number or null }]; seek(step): the reader scrubs on the chart. */
  constructor(series, seek) {
    this.series = series;
    this.seek = seek;
    this.axes = svg("g", { class: "axes" });
    this.lines = series.map(({ name }) => svg("path", { class: `curve ${name}` }));
    this.dots = series.map(({ name }) => svg("circle", { class: `dot ${name}` }));
    this.moment = svg("line", { class: "moment-mark" });
    this.cursor = svg("line", { class: "cursor" });
    this.node = svg("svg", { class: "panel", role: "img" }, this.axes, this.moment, this.lines, this.cursor, this.dots);
    this.values = series.map(() => el("b", { class: "figure" }));
    this.node.addEventListener("pointerdown", (event) => this.drag(event));
    this.node.addEventListener("pointermove", (event) => event.buttons === 1 && this.drag(event));
  }

  drag(event) {
    if (!this.room) return;
    this.node.setPointerCapture?.(event.pointerId);
    const x = event.clientX - this.node.getBoundingClientRect().left;
    const part = (x - this.room.left) / (this.room.width - this.room.left - this.room.right);
    this.seek(Math.min(Math.max(part, 0), 1) * this.last);
  }

  /** room: { width, height, left, right, top, bottom }; scale: { up(value) in [0, 1], ticks: [[value, text]] }; last: the last step. */
  lay(room, scale, last, withSteps) {
    Object.assign(this, { room, scale, last });
    set(this.node, { width: room.width, height: room.height, viewBox: `0 0 ${room.width} ${room.height}` });
    const right = room.width - room.right;
    const across = scale.ticks.flatMap(([value, text]) => [
      svg("line", { x1: room.left, x2: right, y1: place(this.y(value)), y2: place(this.y(value)) }),
      svg("text", { class: "tick y", x: room.left - 6, y: place(this.y(value)), dy: "0.35em", text }),
    ]);
    const steps = withSteps ? roundSteps(last) : [];
    const along = steps.map((step) => svg("text", { class: "tick x", x: place(this.x(step)), y: room.height - 2, text: String(step) }));
    this.axes.replaceChildren(...across, ...along);
    for (const line of [this.cursor, this.moment]) set(line, { y1: room.top, y2: room.height - room.bottom });
    for (const dot of this.dots) set(dot, { r: room.dot });
  }

  x(step) {
    const { left, right, width } = this.room;
    return left + (step / this.last) * (width - left - right);
  }

  y(value) {
    const { top, bottom, height } = this.room;
    return height - bottom - this.scale.up(value) * (height - top - bottom);
  }

  /** Where a frame has no figure the line goes on to the next one that has. */
  draw(frames, moment) {
    this.series.forEach(({ of }, k) => {
      const known = frames.filter((frame) => typeof of(frame) === "number");
      const points = known.map((frame) => `${place(this.x(frame.step))},${place(this.y(of(frame)))}`);
      this.lines[k].setAttribute("d", points.length > 0 ? `M${points.join("L")}` : "");
    });
    this.moment.style.display = moment === null ? "none" : "";
    if (moment !== null) set(this.moment, { x1: place(this.x(moment.step)), x2: place(this.x(moment.step)) });
  }

  point(frame, write) {
    const x = place(this.x(frame.step));
    set(this.cursor, { x1: x, x2: x });
    this.series.forEach(({ of }, k) => {
      const value = of(frame);
      const known = typeof value === "number";
      this.dots[k].style.display = known ? "" : "none";
      if (known) set(this.dots[k], { cx: x, cy: place(this.y(value)) });
      this.values[k].textContent = known ? write(value) : "–";
    });
  }
}
