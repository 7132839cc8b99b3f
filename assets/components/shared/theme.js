// The reader's theme, read from Streamlit's own variables, and the style sheets of our pictures.

const BASE = new URL("../", import.meta.url);
const states = new WeakMap();

/** "light" or "dark", from the page's background. */
export function themeOf(root) {
  const host = root.host ?? root;
  const colour = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = colour || "#ffffff";
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light";
}

/**
 * The lasting state of one mounted picture: { view, theme, ready }. The style sheets are asked for once per mount;
 * `ready` resolves when they are in, so that nothing is ever drawn unstyled.
 */
export function mounted(root, sheets) {
  let state = states.get(root);
  if (state === undefined) {
    const view = document.createElement("div");
    view.className = "view";
    const links = ["shared/shared.css", ...sheets].map((path) => {
      const link = document.createElement("link");
      link.rel = "stylesheet";
      link.href = new URL(path, BASE).href;
      root.append(link);
      return new Promise((done) => {
        link.onload = link.onerror = done;
      });
    });
    root.append(view);
    state = { view, ready: Promise.all(links) };
    states.set(root, state);
  }
  state.theme = themeOf(root);
  state.view.dataset.theme = state.theme;
  return state;
}
