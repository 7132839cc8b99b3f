// Copy link, and the address bar itself: both always describe the picture that is on the screen.
import { el } from "../shared/dom.js";
import { unpack } from "../shared/frame.js";
import { mounted } from "../shared/theme.js";

const COPIED_FOR = 2500;

export default function draw({ data, parentElement }) {
  const header = unpack(data);
  document.documentElement.lang = header.language;
  const url = new URL(window.location.href);
  url.search = header.query;
  if (url.href !== window.location.href) history.replaceState(history.state, "", url);
  const state = mounted(parentElement, ["link/link.css"]);
  state.ready.then(() => show(state, header, url.href));
  return () => {};
}

function show(state, header, address) {
  const { view } = state;
  view.dataset.projector = header.projector;
  if (state.button === undefined) {
    state.button = el("button", { type: "button", class: "copy" });
    state.said = el("span", { class: "said", role: "status" });
    view.append(state.button, state.said);
  }
  state.button.textContent = header.strings.copy_link;
  state.button.title = header.is_whole ? header.strings.carries_text : header.strings.too_long;
  state.button.onclick = () => copy(state, header, address);
  view.dataset.revision = header.revision;
}

async function copy(state, header, address) {
  const done = await write(address);
  state.said.textContent = done ? (header.is_whole ? header.strings.copied : header.strings.too_long) : header.strings.copy_by_hand;
  clearTimeout(state.timer);
  state.timer = setTimeout(() => (state.said.textContent = ""), COPIED_FOR);
}

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromField(text); // Without https only the old way is allowed.
  }
}

function copyFromField(text) {
  const field = el("textarea", { readonly: true, style: { position: "fixed", opacity: "0" } });
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}
