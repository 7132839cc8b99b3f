// Where a reader is among scenes: the top of a new scene comes into sight, the keys that turn work everywhere, and the
// keyboard is never nowhere. Draws nothing.

import { unpack } from "../shared/frame.js";

const KEYS = ["PageUp", "PageDown"];
const PAUSE = 50; // Milliseconds without a change, after which a page counts as drawn.
const mounts = new WeakMap();

const keyed = (name) => document.querySelector(`.st-key-${CSS.escape(name)}`);

const REACHED = "button:not(:disabled), input:not(:disabled), [tabindex='0']";
const CHOSEN = "[aria-checked='true']";

/** What takes the keyboard in a group of widgets: the chosen option, else the first. */
function within(group) {
  return [CHOSEN, REACHED].flatMap((kind) => [...(group?.querySelectorAll(kind) ?? [])]).find((node) => node.checkVisibility());
}

/**
 * A box of one line, a switch and a slider keep the keys to themselves, and a presenter has just used one of them: there
 * the keys press the button that they press anywhere else. An open list keeps them.
 */
function onKey(event) {
  const field = event.composedPath()[0];
  const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
  if (!isPlain || !KEYS.includes(event.key) || !(field instanceof HTMLInputElement)) return;
  if (field.getAttribute("aria-expanded") === "true" || event.isComposing) return;
  const button = keyed(`turn_${event.key}`)?.querySelector("button");
  if (!button) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!event.repeat) button.click();
}

/** The names of the widget that an element belongs to and of the groups around it, the nearest first. */
function namesOf(node) {
  const found = [];
  for (let at = node; at; at = at.parentElement) {
    found.push(...[...at.classList].filter((name) => name.startsWith("st-key-")).map((name) => name.slice("st-key-".length)));
  }
  return found;
}

/**
 * What had the keyboard is gone. In the same place, its successor or a neighbour gets it; in another one, what turns the
 * scenes, which is in sight there.
 */
function rescue(state) {
  const { last, place, homes } = state;
  if (last === null || (last.node.isConnected && !last.node.disabled)) return;
  if (document.activeElement !== document.body && document.activeElement !== last.node) return;
  const isHere = last.place === place;
  for (const name of [...(isHere ? last.names : []), ...homes]) {
    const found = within(keyed(name));
    if (found) {
      found.focus({ preventScroll: !isHere });
      return;
    }
  }
}

function mount() {
  const state = { last: null, homes: [], place: null, timer: null };
  const main = document.querySelector("[data-testid=stMain]");
  const onFocus = (event) => {
    const { target } = event; // Inside a picture, the picture; the path begins with what really has the keyboard.
    const isHere = main.contains(target) && target !== main;
    state.last = isHere ? { node: event.composedPath()[0], names: namesOf(target), place: state.place } : null;
  };
  const watch = new MutationObserver(() => {
    clearTimeout(state.timer);
    state.timer = setTimeout(() => rescue(state), PAUSE);
  });
  watch.observe(main, { childList: true, subtree: true, attributeFilter: ["disabled"] });
  document.addEventListener("focusin", onFocus);
  document.addEventListener("keydown", onKey, { capture: true });
  state.end = () => {
    watch.disconnect();
    clearTimeout(state.timer);
    document.removeEventListener("focusin", onFocus);
    document.removeEventListener("keydown", onKey, { capture: true });
  };
  return state;
}

export default function turn({ parentElement, data }) {
  const { place, homes } = unpack(data);
  const state = mounts.get(parentElement) ?? mount();
  mounts.set(parentElement, state);
  state.homes = homes;
  if (state.place !== null && state.place !== place) document.querySelector("[data-testid=stMain]")?.scrollTo({ top: 0 });
  state.place = place;
  return () => {
    state.end();
    mounts.delete(parentElement);
  };
}
