// Play, pause, one frame, ten frames, rewind, scrub, follow: one transport for all runs together.

import { el, phrase, svg } from "../shared/dom.js";

const ICONS = {
  rewind: "M2 2h3v5.2L14 2v12L5 8.8V14H2z",
  play: "M3 1.5 14 8 3 14.5z",
  pause: "M3 2h4v12H3zM9 2h4v12H9z",
};
const icon = (name) => svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));

const ACTIONS = [
  ["rewind", null, (reel) => reel.go(0)],
  ["back_ten", "−10", (reel) => reel.by(-10)],
  ["back_one", "−1", (reel) => reel.by(-1)],
  ["play", null, (reel) => reel.toggle()],
  ["on_one", "+1", (reel) => reel.by(1)],
  ["on_ten", "+10", (reel) => reel.by(10)],
];

export class Transport {
  constructor(reel) {
    this.reel = reel;
    this.buttons = new Map(ACTIONS.map(([name, sign, act]) => {
      const press = () => this.able && act(this.reel);
      return [name, el("button", { type: "button", class: `act ${name}`, "data-action": name, onclick: press }, sign ?? icon(name))];
    }));
    this.slider = el("input", { type: "range", class: "scrub", min: "0", max: "0", step: "1", "data-action": "scrub",
      oninput: () => this.reel.go(Number(this.slider.value)) });
    this.where = el("span", { class: "where" });
    this.follow = el("button", { type: "button", class: "follow", "data-action": "follow", onclick: () => this.able && this.reel.active && this.reel.followLive(!this.reel.follow) });
    this.node = el("div", { class: "transport", role: "group" },
      el("div", { class: "acts" }, ...this.buttons.values()), this.slider, this.where, this.follow);
  }

  update(strings) {
    this.strings = strings;
    this.node.setAttribute("aria-label", strings.transport_name);
    this.slider.setAttribute("aria-label", strings.scrub_name);
    for (const [name, button] of this.buttons) label(button, strings[name]);
    this.follow.textContent = strings.follow_live;
    this.follow.title = strings.follow_hint;
  }

  get able() {
    return this.reel.last >= 0;
  }

  show() {
    const { reel, strings } = this;
    const off = String(!this.able);
    for (const button of this.buttons.values()) button.setAttribute("aria-disabled", off);
    const play = this.buttons.get("play");
    const act = reel.moving ? "pause" : "play";
    if (play.dataset.act !== act) play.replaceChildren(icon(act));
    play.dataset.act = act;
    label(play, strings[act]);
    const at = Math.max(reel.index, 0);
    const step = this.able ? phrase(strings.step_name, { step: reel.step }) : strings.step_none;
    this.slider.disabled = !this.able;
    this.slider.max = String(Math.max(reel.last, 0));
    this.slider.value = String(at);
    this.slider.style.setProperty("--part", `${reel.last > 0 ? (at / reel.last) * 100 : 0}%`);
    this.slider.setAttribute("aria-valuetext", step);
    this.where.textContent = step;
    this.follow.setAttribute("aria-disabled", String(!(this.able && reel.active)));
    this.follow.setAttribute("aria-pressed", String(reel.follow && reel.active));
  }
}

function label(button, text) {
  if (button.title === text) return;
  button.title = text;
  button.setAttribute("aria-label", text);
}
