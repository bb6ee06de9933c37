// Draws the figure beside its table, again where its width changes, and saves it as SVG and PNG. What it shows stands
// in the table, which is all that is read aloud.
import { save } from "./downloads.js";
import { columnsFor, drawers, legends } from "./drawings.js";
import { textWidth } from "./labels.js";

const SVG = "http://www.w3.org/2000/svg";
const HEADING = 22;

for (const place of document.querySelectorAll("[data-figure]")) {
  const figure = JSON.parse(document.getElementById(place.dataset.figure).textContent);
  let drawn = 0;
  const draw = () => {
    const inner = getComputedStyle(place);
    const width = Math.floor(
      place.clientWidth - Number.parseFloat(inner.paddingLeft) - Number.parseFloat(inner.paddingRight),
    );
    if (width < 60 || Math.abs(width - drawn) < 8) return;
    drawn = width;
    place.replaceChildren(whole(figure, width));
    place.dataset.drawn = figure.name;
  };
  draw();
  new ResizeObserver(draw).observe(place);
  for (const button of place.closest("section").querySelectorAll("[data-save]")) {
    button.hidden = false;
    button.addEventListener("click", () => save(place.firstElementChild, figure.name, button.dataset.save));
  }
}

function whole(figure, width) {
  const outer = element("svg", { width, "aria-hidden": "true", class: "chart" });
  let top = addLegend(outer, legends[figure.kind]?.(figure) ?? [], width);
  const groups = figure.group ? [...new Set(figure.rows.map((row) => row[figure.group]))] : [null];
  const columns = groups.length > 1 ? columnsFor(figure, width) : 1;
  const own = Math.floor(width / columns);
  let below = top;
  groups.forEach((group, index) => {
    if (index % columns === 0) top = below;
    const left = (index % columns) * own;
    const rows = group === null ? figure.rows : figure.rows.filter((row) => row[figure.group] === group);
    if (group !== null) addText(outer, left, top + 15, String(group), { "font-weight": 600 });
    const part = drawers[figure.kind](figure, rows, own);
    clean(part);
    const at = top + (group === null ? 0 : HEADING);
    part.setAttribute("x", String(left));
    part.setAttribute("y", String(at));
    outer.append(part);
    below = Math.max(below, at + Number(part.getAttribute("height")) + 8);
  });
  outer.setAttribute("height", String(below));
  outer.setAttribute("viewBox", `0 0 ${width} ${below}`);
  return outer;
}

// The policy of the page refuses style elements, and the table has the same links.
function clean(svg) {
  for (const style of svg.querySelectorAll("style")) style.remove();
  for (const link of svg.querySelectorAll("a")) link.setAttribute("tabindex", "-1");
}

function addLegend(outer, entries, width) {
  let [left, top] = [0, 14];
  for (const { colour, shape, name } of entries) {
    const space = textWidth(name) + 34;
    if (left && left + space > width) [left, top] = [0, top + 18];
    addText(outer, left, top, shape, { fill: colour });
    addText(outer, left + 16, top, name, {});
    left += space;
  }
  return entries.length ? top + 10 : 0;
}

function addText(outer, x, y, content, attributes) {
  const text = element("text", { x, y, fill: "currentColor", "font-size": 12, ...attributes });
  text.textContent = content;
  outer.append(text);
}

function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
