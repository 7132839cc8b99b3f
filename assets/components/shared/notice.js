// What is said of words that the model does not know, with a button for each thing to do about it.

import { el } from "./dom.js";

/** notice: { text, offers: [{ label, title?, model? | example? }] }; open({ model | example }) is called on a press. */
export function fillNotice(node, { text, offers }, open) {
  const buttons = offers.map(({ label, title, ...offer }) =>
    el("button", { type: "button", class: "offer", text: label, title, onclick: () => open(offer) }));
  node.replaceChildren(text, ...buttons.flatMap((button) => [" ", button]));
}
