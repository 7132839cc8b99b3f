// A bill as a table in a scrolling box. Of a long one only the rows in view stand in the document.
import { el } from "../shared/dom.js";
import { valueAttributes } from "../shared/matrix_cells.js";

const MOST_ROWS = 256; // More than any head has dimensions: the terms of one number are always all there.
const BEYOND = 8; // Rows kept on either side of what the box shows.

function tableCell(cell) {
  if (cell === null) return el("td");
  if (cell instanceof Node) return el("td", {}, cell);
  const { value, at, scale, format, text } = cell;
  const painted = scale?.paint(value);
  return el("td", {
    class: painted ? "painted" : null, text: text ?? (format ?? scale.format)(value), ...valueAttributes(...at, value),
    style: painted ? { background: painted.fill, color: painted.ink } : {},
  });
}

function line({ label, cells, lit }, index = null) {
  return el("tr", { class: lit ? `lit tone-${lit}` : null, "aria-rowindex": index },
    el("th", { scope: "row" }, label), cells.map(tableCell));
}

const gap = (rows, pitch) => (rows > 0 ? [el("tr", { "aria-hidden": "true", style: { height: `${rows * pitch}px` } })] : []);

export class BillTable {
  constructor(label, most = MOST_ROWS) {
    this.most = most;
    this.head = el("thead");
    this.body = el("tbody");
    this.foot = el("tfoot");
    this.table = el("table", { class: "bill" }, el("caption", { class: "unseen", text: label }), this.head, this.body, this.foot);
    // Focusable, because it can scroll.
    this.node = el("div", { class: "bill-box", tabindex: 0, role: "region", "aria-label": label }, this.table);
    this.node.addEventListener("scroll", () => this.refresh(), { passive: true });
    this.pitch = 22;
  }

  /** heads: names; count rows, row(r) → { label: node | text, cells: [...], lit?: tone }; foot: rows that close the bill. */
  fill({ heads, count, row, foot }) {
    Object.assign(this, { count, row });
    if (count > this.most) this.table.setAttribute("aria-rowcount", count + 1 + foot.length);
    this.head.replaceChildren(el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head))));
    this.foot.replaceChildren(...foot.map((each) => line(each)));
    this.seen = null;
    this.refresh();
  }

  /** From which row to which. */
  window() {
    if (this.count <= this.most) return [0, this.count];
    const first = Math.floor(this.node.scrollTop / this.pitch);
    const shown = Math.ceil((this.node.clientHeight || 400) / this.pitch);
    return [Math.max(0, Math.min(first, this.count - shown) - BEYOND), Math.min(this.count, first + shown + BEYOND)];
  }

  refresh() {
    const [top, bottom] = this.window();
    if (this.seen?.[0] === top && this.seen[1] === bottom) return;
    this.seen = [top, bottom];
    const whole = this.count <= this.most;
    const rows = Array.from({ length: bottom - top }, (_, r) => line(this.row(top + r), whole ? null : top + r + 2));
    this.body.replaceChildren(...gap(top, this.pitch), ...rows, ...gap(this.count - bottom, this.pitch));
    this.measure(rows);
  }

  /** How far apart two rows stand. */
  measure(rows) {
    if (this.count <= this.most || rows.length < 2) return;
    const pitch = rows[1].offsetTop - rows[0].offsetTop;
    if (pitch > 0 && Math.abs(pitch - this.pitch) >= 0.5) {
      this.pitch = pitch;
      this.seen = null;
      this.refresh();
    }
  }

  /** Scroll inside the box until this row is clear of head and foot. */
  reveal(r) {
    if (this.node.scrollHeight <= this.node.clientHeight + 1) return;
    const rows = this.count > this.most ? null : this.body.children[r];
    const [top, height] = rows ? [rows.offsetTop, rows.offsetHeight] : [this.head.offsetHeight + r * this.pitch, this.pitch];
    const [above, below] = [this.head.offsetHeight, this.foot.offsetHeight];
    const { scrollTop, clientHeight } = this.node;
    if (top - above < scrollTop) this.node.scrollTop = top - above;
    else if (top + height + below > scrollTop + clientHeight) this.node.scrollTop = top + height + below - clientHeight;
    this.refresh();
  }
}
