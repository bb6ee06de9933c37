// static/js/results/downloads.js
var PAINTED = ["fill", "stroke", "color"];
async function save(svg, name, kind) {
  let text2 = new XMLSerializer().serializeToString(standalone(svg)), drawing = new Blob([`<?xml version="1.0" encoding="UTF-8"?>
${text2}`], { type: "image/svg+xml" });
  download(kind === "png" ? await rasterised(drawing, svg) : drawing, `${name}.${kind}`);
}
function standalone(svg) {
  let copy = svg.cloneNode(!0), before = svg.style.colorScheme;
  svg.style.colorScheme = "light";
  let parts = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  parts.forEach((part, index) => {
    let style = getComputedStyle(part);
    for (let name of PAINTED) {
      let given = part.getAttribute(name);
      given && given !== "none" && copies[index].setAttribute(name, plain(style.getPropertyValue(name)));
    }
    copies[index].removeAttribute("style"), copies[index].removeAttribute("class"), part.localName === "a" && copies[index].replaceWith(...copies[index].childNodes);
  });
  let ink = plain(getComputedStyle(svg).color);
  svg.style.colorScheme = before, copy.setAttribute("xmlns", "http://www.w3.org/2000/svg"), copy.setAttribute("color", ink), copy.setAttribute("font-family", "system-ui, sans-serif"), copy.setAttribute("font-size", "12"), copy.removeAttribute("aria-hidden");
  let ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  return ground.setAttribute("width", "100%"), ground.setAttribute("height", "100%"), ground.setAttribute("fill", "#ffffff"), copy.prepend(ground), copy;
}
function plain(colour) {
  let parts = /^color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(colour);
  return parts ? `rgb(${parts.slice(1).map((part) => Math.round(Number(part) * 255)).join(", ")})` : colour;
}
async function rasterised(drawing, svg) {
  let address = URL.createObjectURL(drawing);
  try {
    let image = new Image();
    image.src = address, await image.decode();
    let canvas = document.createElement("canvas");
    for (let side of ["width", "height"]) canvas[side] = 2 * Number(svg.getAttribute(side));
    return canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height), await new Promise((resolve) => {
      canvas.toBlob(resolve, "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
function download(blob, name) {
  let link2 = document.createElement("a");
  link2.href = URL.createObjectURL(blob), link2.download = name, link2.click(), setTimeout(() => URL.revokeObjectURL(link2.href), 1e4);
}

// static/js/results/drawings.js
import { barX, cell, dot, line, link, plot, ruleX, text } from "../../vendor/plot/plot.min.js";

// static/js/results/labels.js
var textWidth = (text2) => text2.length * 6.4;
function placeLabels(points, width, height) {
  let taken = points.map(({ x, y }) => box(x - 5, y - 5, 10, 10));
  return points.map((point, own) => {
    let others = taken.filter((_, index) => index !== own);
    for (let place of places(point))
      if (!(!(place.box.left >= 0 && place.box.right <= width && place.box.top >= 0 && place.box.bottom <= height) || others.some((other) => overlap(other, place.box))))
        return taken.push(place.box), { x: place.x, y: place.y, anchor: place.anchor };
    return null;
  });
}
function* places({ x, y, text: text2 }) {
  let wide = textWidth(text2);
  for (let [dx, dy, anchor] of [
    [7, -5, "start"],
    [7, 15, "start"],
    [-7, -5, "end"],
    [-7, 15, "end"],
    [7, 4, "start"],
    [-7, 4, "end"],
    [0, -9, "middle"],
    [0, 17, "middle"]
  ]) {
    let left = anchor === "start" ? x + dx : anchor === "end" ? x + dx - wide : x + dx - wide / 2;
    yield { x: x + dx, y: y + dy, anchor, box: box(left, y + dy - 13 + 3, wide, 13) };
  }
}
var box = (left, top, width, height) => ({ left, top, right: left + width, bottom: top + height }), overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
function percentRange(values) {
  if (!values.length) return [0, 100];
  let low = Math.max(0, Math.floor((Math.min(...values) - 3) / 10) * 10);
  return [low, Math.min(100, Math.max(low + 10, Math.ceil((Math.max(...values) + 3) / 10) * 10))];
}
function trendLine(points) {
  let count = points.length, mean = (index) => points.reduce((sum, point) => sum + point[index], 0) / count, [x, y] = [mean(0), mean(1)], spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  if (count < 3 || spread < 1e-9) return null;
  let slope = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread;
  return [Math.min(...points.map((point) => point[0])), Math.max(...points.map((point) => point[0]))].map((end) => [end, y + slope * (end - x)]);
}

// static/js/results/drawings.js
var SHARES = {
  completed: { colour: "var(--good)", shape: "●" },
  inferred: { colour: "var(--info)", shape: "◐" },
  provided: { colour: "var(--edge)", shape: "○" }
}, NARROW = 520, factor = (figure, key) => ["percent", "points"].includes(figure.units[key]) ? 100 : 1, number = (figure, row, key) => row[key] == null ? null : row[key] * factor(figure, key), shown = (figure, row, key) => {
  let value = number(figure, row, key), part = (one) => one.toFixed(figure.units[key] === "count" ? 0 : 1);
  if (value == null) return `${figure.headings[key]}: –`;
  let ends = [`${key}_low`, `${key}_high`].map((end) => row[end]), interval = ends.includes(void 0) || ends.includes(null) ? "" : ` (${ends.map((end) => part(end * factor(figure, key))).join(" to ")})`;
  return `${figure.headings[key]}: ${part(value)}${interval}`;
}, label = (figure, key) => figure.headings[key] + (factor(figure, key) === 100 ? " (%)" : ""), frame = (width, left, more) => ({
  width,
  marginLeft: left,
  marginRight: 16,
  style: { background: "none", color: "currentColor", fontSize: "12px", overflow: "visible" },
  ...more
}), nameSpace = (rows, key, width) => Math.min(width * 0.42, 24 + Math.max(40, ...rows.map((row) => textWidth(String(row[key]))))), short = (name, space) => {
  let most = Math.max(6, Math.floor((space - 16) / textWidth("n")));
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}, names = (figure, rows, space) => ({
  domain: rows.map((_, index) => index),
  label: null,
  tickSize: 0,
  tickFormat: (index) => short(String(rows[index][figure.label]), space)
}), legends = {
  stack: (figure) => figure.x.map((key) => ({ ...SHARES[key], name: figure.headings[key] })),
  pairs: (figure) => [
    { colour: "var(--muted)", shape: "○", name: figure.headings[figure.x[0]] },
    { colour: "var(--accent)", shape: "●", name: figure.headings[figure.x[1]] }
  ]
}, drawers = {
  stack(figure, rows, width) {
    let space = nameSpace(rows, figure.label, width), parts = rows.flatMap((row, index) => {
      let start = 0;
      return figure.x.map((key) => {
        let from = start;
        return start += number(figure, row, key) ?? 0, { row, key, index, from, to: start };
      });
    }), at = { y: "index", x1: "from", x2: "to" };
    return plot(
      frame(width, space, {
        height: 56 + 28 * rows.length,
        marginBottom: 40,
        x: { domain: [0, 100], label: "% of intents", ticks: 5 },
        y: { ...names(figure, rows, space), padding: 0.22 },
        marks: [
          ...figure.x.map(
            (key) => barX(
              parts.filter((one) => one.key === key),
              {
                ...at,
                fill: SHARES[key].colour,
                stroke: "var(--panel)",
                title: (one) => `${one.row[figure.label]}
${shown(figure, one.row, key)} %`,
                href: (one) => one.row.href
              }
            )
          ),
          text(
            parts.filter((one) => (one.to - one.from) / 100 * (width - space) > 34),
            {
              y: at.y,
              x: (one) => (one.from + one.to) / 2,
              text: (one) => (one.to - one.from).toFixed(0),
              fill: "var(--panel)",
              fontWeight: 600,
              pointerEvents: "none"
            }
          )
        ]
      })
    );
  },
  scatter(figure, rows, width) {
    let [x] = figure.x, { y } = figure, known = rows.filter((row) => row[x] != null && row[y] != null), all = (key) => known.flatMap((row) => [row[key], row[`${key}_low`], row[`${key}_high`]]).filter((one) => one != null).map((one) => one * factor(figure, key)), both = figure.diagonal ? percentRange([...all(x), ...all(y)]) : null, range = (key) => both ?? (figure.units[key] === "percent" ? percentRange(all(key)) : void 0), point = { x: (row) => number(figure, row, x), y: (row) => number(figure, row, y) }, ends = (key) => [`${key}_low`, `${key}_high`].map((end) => (row) => row[end] * factor(figure, key)), whiskers = known.length <= 20 && !figure.group ? known : [], has = (key) => whiskers.filter((row) => row[`${key}_low`] != null && row[`${key}_high`] != null), trend = figure.trend ? trendLine(known.map((row) => [point.x(row), point.y(row)])) : null, height = Math.round(Math.min(width, 460) * 0.86), made = plot(
      frame(width, 46, {
        height,
        marginTop: 26,
        marginBottom: 38,
        x: { domain: range(x), label: `${label(figure, x)} →`, nice: !both, ticks: 5 },
        y: { domain: range(y), label: `↑ ${label(figure, y)}`, nice: !both, ticks: 5 },
        marks: [
          both ? line(
            both.map((end) => [end, end]),
            { stroke: "var(--muted)", strokeDasharray: "4 4" }
          ) : null,
          trend ? line(trend, { stroke: "var(--muted)", strokeDasharray: "4 4" }) : null,
          link(has(x), { x1: ends(x)[0], x2: ends(x)[1], y1: point.y, y2: point.y, stroke: "var(--edge)" }),
          link(has(y), { x1: point.x, x2: point.x, y1: ends(y)[0], y2: ends(y)[1], stroke: "var(--edge)" }),
          dot(known, {
            ...point,
            r: known.length > 40 ? 3.5 : 5,
            fill: "var(--accent)",
            stroke: "var(--panel)",
            title: (row) => [row[figure.label], shown(figure, row, y), shown(figure, row, x)].join(`
`),
            href: "href"
          })
        ]
      })
    );
    return known.length <= 20 && nameThePoints(made, figure, known, point, width, height), made;
  },
  pairs(figure, rows, width) {
    let space = nameSpace(rows, figure.label, width), [first, second] = figure.x, known = rows.filter((row) => row[first] != null && row[second] != null), y = (row) => known.indexOf(row), value = (key) => (row) => number(figure, row, key), title = (row) => [row[figure.label], shown(figure, row, first), shown(figure, row, second)].join(`
`);
    return plot(
      frame(width, space, {
        height: 62 + 28 * known.length,
        marginBottom: 40,
        x: {
          domain: percentRange(known.flatMap((row) => [value(first)(row), value(second)(row)])),
          label: "%",
          grid: !0
        },
        y: { ...names(figure, known, space), type: "point" },
        marks: [
          link(known, { x1: value(first), x2: value(second), y1: y, y2: y, stroke: "var(--edge)", strokeWidth: 2 }),
          dot(known, {
            x: value(first),
            y,
            r: 5,
            stroke: "var(--muted)",
            strokeWidth: 2,
            fill: "var(--panel)",
            title,
            href: "href"
          }),
          dot(known, { x: value(second), y, r: 5, fill: "var(--accent)", title, href: "href" })
        ]
      })
    );
  },
  intervals(figure, rows, width) {
    let space = nameSpace(rows, figure.label, width), [x] = figure.x, known = rows.filter((row) => row[x] != null), y = (row) => known.indexOf(row), end = (name) => (row) => row[`${x}_${name}`] * factor(figure, x);
    return plot(
      frame(width, space, {
        height: 62 + 26 * known.length,
        marginBottom: 40,
        x: {
          label: `${label(figure, x)} →`,
          grid: !0,
          nice: !0,
          domain: figure.units[x] === "percent" ? [0, 100] : void 0
        },
        y: { ...names(figure, known, space), type: "point" },
        marks: [
          figure.units[x] === "points" ? ruleX([0], { stroke: "var(--muted)", strokeDasharray: "4 4" }) : null,
          link(
            known.filter((row) => row[`${x}_low`] != null),
            { x1: end("low"), x2: end("high"), y1: y, y2: y, stroke: "var(--edge)", strokeWidth: 2 }
          ),
          dot(known, {
            x: (row) => number(figure, row, x),
            y,
            r: 5,
            fill: "var(--accent)",
            title: (row) => `${row[figure.label]}
${shown(figure, row, x)}`,
            href: "href"
          })
        ]
      })
    );
  },
  heat(figure, rows, width) {
    let space = nameSpace(rows, figure.label, width), cells = rows.flatMap(
      (row, index) => figure.x.map((key) => ({
        row,
        index,
        key,
        value: number(figure, row, key),
        href: row[`${key}_href`] ?? row.href
      }))
    ), place = { x: (one) => figure.headings[one.key], y: "index" };
    return plot(
      frame(width, space, {
        height: 60 + 22 * rows.length,
        marginTop: 34,
        color: { type: "identity" },
        x: {
          domain: figure.x.map((key) => figure.headings[key]),
          axis: "top",
          label: null,
          tickSize: 0,
          tickFormat: (name) => short(name, (width - space) / figure.x.length + 10)
        },
        y: names(figure, rows, space),
        marks: [
          cell(cells, {
            ...place,
            inset: 1,
            fill: (one) => one.value == null ? "var(--sunk)" : `color-mix(in srgb, var(--accent) ${(one.value * 0.55).toFixed(0)}%, var(--panel))`,
            stroke: "var(--line)",
            title: (one) => `${one.row[figure.label]}
${shown(figure, one.row, one.key)} %`,
            href: "href"
          }),
          text(cells, {
            ...place,
            text: (one) => one.value == null ? "–" : one.value.toFixed(0),
            fill: "var(--text)",
            pointerEvents: "none"
          })
        ]
      })
    );
  }
}, columnsFor = (figure, width) => figure.kind !== "scatter" || width < NARROW ? 1 : Math.max(1, Math.min(3, Math.floor(width / 300)));
function nameThePoints(made, figure, rows, point, width, height) {
  let [x, y] = [made.scale("x"), made.scale("y")], points = rows.map((row) => ({
    x: x.apply(point.x(row)),
    y: y.apply(point.y(row)),
    text: String(row[figure.label])
  }));
  placeLabels(points, width, height).forEach((place, index) => {
    if (!place) return;
    let named = document.createElementNS("http://www.w3.org/2000/svg", "text");
    for (let [name, value] of Object.entries({
      x: place.x,
      y: place.y,
      "text-anchor": place.anchor,
      fill: "var(--text)",
      "pointer-events": "none",
      stroke: "var(--panel)",
      "stroke-width": 3,
      "paint-order": "stroke"
    }))
      named.setAttribute(name, String(value));
    named.textContent = points[index].text, made.append(named);
  });
}

// static/js/results/charts.js
var SVG = "http://www.w3.org/2000/svg", HEADING = 22;
for (let place of document.querySelectorAll("[data-figure]")) {
  let figure = JSON.parse(document.getElementById(place.dataset.figure).textContent), drawn = 0, draw = () => {
    let inner = getComputedStyle(place), width = Math.floor(
      place.clientWidth - Number.parseFloat(inner.paddingLeft) - Number.parseFloat(inner.paddingRight)
    );
    width < 60 || Math.abs(width - drawn) < 8 || (drawn = width, place.replaceChildren(whole(figure, width)), place.dataset.drawn = figure.name);
  };
  draw(), new ResizeObserver(draw).observe(place);
  for (let button of place.closest("section").querySelectorAll("[data-save]"))
    button.hidden = !1, button.addEventListener("click", () => save(place.firstElementChild, figure.name, button.dataset.save));
}
function whole(figure, width) {
  let outer = element("svg", { width, "aria-hidden": "true", class: "chart" }), top = addLegend(outer, legends[figure.kind]?.(figure) ?? [], width), groups = figure.group ? [...new Set(figure.rows.map((row) => row[figure.group]))] : [null], columns = groups.length > 1 ? columnsFor(figure, width) : 1, own = Math.floor(width / columns), below = top;
  return groups.forEach((group, index) => {
    index % columns === 0 && (top = below);
    let left = index % columns * own, rows = group === null ? figure.rows : figure.rows.filter((row) => row[figure.group] === group);
    group !== null && addText(outer, left, top + 15, String(group), { "font-weight": 600 });
    let part = drawers[figure.kind](figure, rows, own);
    clean(part);
    let at = top + (group === null ? 0 : HEADING);
    part.setAttribute("x", String(left)), part.setAttribute("y", String(at)), outer.append(part), below = Math.max(below, at + Number(part.getAttribute("height")) + 8);
  }), outer.setAttribute("height", String(below)), outer.setAttribute("viewBox", `0 0 ${width} ${below}`), outer;
}
function clean(svg) {
  for (let style of svg.querySelectorAll("style")) style.remove();
  for (let link2 of svg.querySelectorAll("a")) link2.setAttribute("tabindex", "-1");
}
function addLegend(outer, entries, width) {
  let [left, top] = [0, 14];
  for (let { colour, shape, name } of entries) {
    let space = textWidth(name) + 34;
    left && left + space > width && ([left, top] = [0, top + 18]), addText(outer, left, top, shape, { fill: colour }), addText(outer, left + 16, top, name, {}), left += space;
  }
  return entries.length ? top + 10 : 0;
}
function addText(outer, x, y, content, attributes) {
  let text2 = element("text", { x, y, fill: "currentColor", "font-size": 12, ...attributes });
  text2.textContent = content, outer.append(text2);
}
function element(name, attributes) {
  let made = document.createElementNS(SVG, name);
  for (let [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
