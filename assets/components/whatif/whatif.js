// What if: one head before and after, what changed, and what the numbers say about it.

import { el, phrase } from "../shared/dom.js";
import { Matrix, unpack } from "../shared/frame.js";
import { HeatCanvas, PAINTED } from "../shared/heat_canvas.js";
import { Heatmap } from "../shared/heatmap.js";
import { fillNotice } from "../shared/notice.js";
import { mounted } from "../shared/theme.js";
import { Fed } from "./fed.js";
import { AfterCanvas, AfterMap, DifferenceCanvas, DifferenceMap } from "./maps.js";
import { rows } from "./rows.js";

const SHEETS = ["shared/heatmap.css", "whatif/whatif.css"];

/** Where either side may be seen there is a difference to show. */
function eitherAllowed({ allowed_before: one, allowed_after: other }) {
  return new Matrix(one.data.map((value, i) => value | other.data[i]), one.rows, one.cols);
}

class WhatIf {
  constructor(view) {
    this.view = view;
    this.frame = null;
    this.width = 0;
    const calls = {
      preview: (row, column) => this.light(row, column),
      leave: () => this.light(),
      choose: (row, column) => this.cut(row, column),
    };
    this.fed = new Fed({ silence: (token) => this.send("silence", token), order: (order) => this.send("order", order) });
    this.grids = [new Heatmap(calls), new AfterMap(calls), new DifferenceMap(calls)];
    this.canvases = [new HeatCanvas(calls), new AfterCanvas(calls), new DifferenceCanvas(calls)];
    this.maps = this.grids;
    this.titles = this.maps.map(() => el("h2"));
    this.rooms = this.maps.map(() => el("div"));
    this.notice = el("p", { class: "notice", hidden: true });
    this.said = el("div", { class: "verdict", role: "status" });
    this.changes = el("div", { class: "changes", role: "group" });
    this.matched = el("p", { class: "matched" });
    this.hint = el("p", { class: "quiet hint" });
    this.rowsTitle = el("h2", { class: "rows-title" });
    this.rowsRoom = el("div", { class: "rows-room" });
    this.check = el("p", { class: "check" });
    const figures = this.rooms.map((room, i) => el("section", { class: "map" }, this.titles[i], room));
    view.append(this.notice, this.changes, this.fed.node, this.said, this.hint, this.matched, el("div", { class: "maps" }, figures),
      this.rowsTitle, this.rowsRoom, this.check);
    this.grids.forEach((map) => map.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row-label")?.parentElement;
      if (row) this.send("ask", Number(row.dataset.row));
    }));
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(view);
    document.fonts?.ready.then(() => this.frame && this.layout());
  }

  update(frame, theme) {
    this.frame = frame;
    this.theme = theme;
    this.view.dataset.projector = frame.projector;
    const { strings } = frame;
    this.notice.hidden = frame.notice === null;
    if (frame.notice) fillNotice(this.notice, frame.notice, (offer) => this.send("open", offer));
    this.said.replaceChildren(...frame.verdict.map((text) => el("p", { text })));
    this.listChanges();
    this.fed.update(frame);
    const isMoved = frame.order.some((token, place) => token !== place);
    this.matched.textContent = isMoved ? strings.matched : "";
    this.matched.hidden = !isMoved;
    this.titles.forEach((title, i) => {
      title.textContent = [strings.before, strings.after, strings.difference][i];
    });
    const isPainted = frame.tokens.length > PAINTED;
    this.view.dataset.painted = isPainted;
    this.maps = isPainted ? this.canvases : this.grids;
    this.rooms.forEach((room, i) => room.firstChild !== this.maps[i].node && room.replaceChildren(this.maps[i].node));
    this.drawMaps();
    this.hint.textContent = isPainted ? strings.maps_hint_painted : strings.maps_hint;
    this.rowsTitle.replaceChildren(strings.rows_title, " ", el("span", { class: "quiet aside", text: strings.rows_aside }));
    this.listRows();
    this.check.className = `check ${frame.check.passed ? "passed" : "failed"}`;
    this.check.textContent = `${frame.check.passed ? "✓" : "✗"} ${frame.check.sentence}`;
    this.view.dataset.revision = frame.revision;
  }

  drawMaps() {
    const { arrays, strings, tokens, cut, silenced } = this.frame;
    const [before, after, difference] = this.maps;
    const asked = { token: this.frame.asker, own: tokens, others: tokens };
    const draw = (map, weights, allowed, hasKeys, said) => map.update({
      tokens, keys: tokens, theme: this.theme, cut, weights, allowed, hasKeys, square: null, chosen: asked,
      strings: { ...strings, ...said, canvas_name: said.heat_name, line_name: strings.ask.replace("{word}", "{token}") },
      exactAt: (row, column) => weights.at(row, column), stateAt: (row, column) => map.stateOf(row, column),
      around: (token) => weights.row(token),
    });
    draw(before, arrays.before, arrays.allowed_before, arrays.has_keys_before, { heat_name: strings.map_before });
    draw(after, arrays.after, arrays.allowed_after, arrays.has_keys_after, { heat_name: strings.map_after });
    draw(difference, arrays.difference, eitherAllowed(arrays), null, {
      heat_name: strings.map_difference, legend_name: strings.legend_difference,
      readout: strings.readout_difference, readout_none: strings.readout_difference_none,
    });
    for (const map of [after, difference]) map.columnLabels?.forEach((label, j) => label.classList.toggle("silent", silenced.includes(j)));
    this.light();
  }

  listChanges() {
    const { changes, strings } = this.frame;
    this.changes.hidden = changes.length === 0;
    this.changes.setAttribute("aria-label", strings.changes);
    this.changes.replaceChildren(el("span", { class: "quiet", text: strings.changes }), ...changes.map(({ piece, text }) =>
      el("button", { type: "button", class: "change", "data-piece": piece, "aria-label": phrase(strings.drop, { text }), onclick: () => this.send("drop", piece) },
        el("span", { text }), el("span", { class: "away", "aria-hidden": "true", text: "×" }))));
  }

  /** The button that was pressed keeps the keyboard. */
  listRows() {
    const held = this.view.getRootNode().activeElement;
    const position = held?.classList.contains("follow") ? held.dataset.position : null;
    this.rowsRoom.replaceChildren(rows(this.frame, (token) => this.send("ask", token)));
    if (position !== null) this.rowsRoom.querySelector(`.follow[data-position="${position}"]`)?.focus();
  }

  /** A cell that neither run may see, and that was not cut here, has no edge to cut. */
  cut(row, column) {
    const { arrays, cut } = this.frame;
    const isCut = cut.some(([query, key]) => query === row && key === column);
    if (isCut || arrays.allowed_after.at(row, column)) this.send("cut", { query: row, key: column });
  }

  light(row = null, column = null) {
    const shown = { row: row ?? this.frame.asker, column, chosen: null };
    for (const map of this.maps) map.show(shown);
  }

  layout() {
    if (!this.view.isConnected) return;
    for (const map of this.maps) map.layout();
  }

  resize() {
    const width = this.view.clientWidth;
    if (this.frame === null || width === this.width) return;
    this.width = width;
    this.layout();
  }
}

export default function draw({ data, parentElement, setTriggerValue }) {
  const state = mounted(parentElement, SHEETS);
  const frame = unpack(data);
  state.ready.then(() => {
    if (!state.view.isConnected) return; // The reader has left already.
    state.whatif ??= new WhatIf(state.view);
    state.whatif.send = setTriggerValue;
    state.whatif.update(frame, state.theme);
  });
  return () => state.whatif?.watcher.disconnect();
}
