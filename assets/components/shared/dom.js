// Small helpers over the DOM. Text is only ever set as text: nothing a reader types is parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (name === "style") for (const [k, v] of Object.entries(value)) node.style.setProperty(k, v);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/** el("button", { class: "pill", text: "it", onclick: f }, child, …) */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A user's word: isolated, so that right-to-left text does not turn its neighbours round. */
export function word(text, attributes = {}) {
  return el("bdi", { ...attributes, text });
}

/**
 * A sentence from the translations with parts put in: "{asker} gives {key}" and { asker: node, key: "text" }
 * → an array of strings and nodes.
 */
export function sentence(template, parts) {
  return template.split(/(\{\w+\})/).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    return name !== undefined && name in parts ? parts[name] : piece;
  });
}

/** The same, as one string. */
export function phrase(template, parts) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in parts ? String(parts[name]) : whole));
}

export function debounce(milliseconds, action) {
  let timer = null;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

export const stillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
