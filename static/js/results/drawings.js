// Each kind of chart as an SVG of its own, by Observable Plot. Colours are the page's variables, so that a drawing
// follows the theme without being drawn again.
import { barX, cell, dot, line, link, plot, ruleX, text } from "../../vendor/plot/plot.min.js";
import { percentRange, placeLabels, shortNames, textWidth, trendLine } from "./labels.js";

const SHARES = {
  completed: { colour: "var(--good)", shape: "●" },
  inferred: { colour: "var(--info)", shape: "◐" },
  provided: { colour: "var(--edge)", shape: "○" },
};
const NARROW = 520;
const [LEFT, BOTTOM] = [46, 38]; // where the axes of points have their figures

// Values of the figure as the axes have them: percents instead of shares.
const factor = (figure, key) => (["percent", "points"].includes(figure.units[key]) ? 100 : 1);
const number = (figure, row, key) => (row[key] == null ? null : row[key] * factor(figure, key));
const shown = (figure, row, key) => {
  const value = number(figure, row, key);
  const part = (one) => one.toFixed(figure.units[key] === "count" ? 0 : 1);
  if (value == null) return `${figure.headings[key]}: –`;
  const ends = [`${key}_low`, `${key}_high`].map((end) => row[end]);
  const interval =
    ends.includes(undefined) || ends.includes(null)
      ? ""
      : ` (${ends.map((end) => part(end * factor(figure, key))).join(" to ")})`;
  return `${figure.headings[key]}: ${part(value)}${interval}`;
};
const label = (figure, key) => figure.headings[key] + (factor(figure, key) === 100 ? " (%)" : "");
const frame = (width, left, more) => ({
  width,
  marginLeft: left,
  marginRight: 16,
  style: { background: "none", color: "currentColor", fontSize: "12px", overflow: "visible" },
  ...more,
});
const nameSpace = (rows, key, width) =>
  Math.min(width * 0.42, 24 + Math.max(40, ...rows.map((row) => textWidth(String(row[key])))));
const names = (figure, rows, space) => {
  const shortened = shortNames(
    rows.map((row) => String(row[figure.label])),
    space - 16,
  );
  return { domain: rows.map((_, index) => index), label: null, tickSize: 0, tickFormat: (index) => shortened[index] };
};

export const legends = {
  stack: (figure) => figure.x.map((key) => ({ ...SHARES[key], name: figure.headings[key] })),
  pairs: (figure) => [
    { colour: "var(--muted)", shape: "○", name: figure.headings[figure.x[0]] },
    { colour: "var(--accent)", shape: "●", name: figure.headings[figure.x[1]] },
  ],
};

export const drawers = {
  stack(figure, rows, width) {
    const space = nameSpace(rows, figure.label, width);
    const parts = rows.flatMap((row, index) => {
      let start = 0;
      return figure.x.map((key) => {
        const from = start;
        start += number(figure, row, key) ?? 0;
        return { row, key, index, from, to: start };
      });
    });
    const at = { y: "index", x1: "from", x2: "to" };
    return plot(
      frame(width, space, {
        height: 56 + 28 * rows.length,
        marginBottom: 40,
        x: { domain: [0, 100], label: "% of intents", ticks: 5 },
        y: { ...names(figure, rows, space), padding: 0.22 },
        marks: [
          ...figure.x.map((key) =>
            barX(
              parts.filter((one) => one.key === key),
              {
                ...at,
                fill: SHARES[key].colour,
                stroke: "var(--panel)",
                title: (one) => `${one.row[figure.label]}\n${shown(figure, one.row, key)} %`,
                href: (one) => one.row.href,
              },
            ),
          ),
          text(
            parts.filter((one) => ((one.to - one.from) / 100) * (width - space) > 34),
            {
              y: at.y,
              x: (one) => (one.from + one.to) / 2,
              text: (one) => (one.to - one.from).toFixed(0),
              fill: "var(--panel)",
              fontWeight: 600,
              pointerEvents: "none",
            },
          ),
        ],
      }),
    );
  },

  scatter(figure, rows, width) {
    const [x] = figure.x;
    const { y } = figure;
    const known = rows.filter((row) => row[x] != null && row[y] != null);
    const all = (key) =>
      known
        .flatMap((row) => [row[key], row[`${key}_low`], row[`${key}_high`]])
        .filter((one) => one != null)
        .map((one) => one * factor(figure, key));
    const both = figure.diagonal ? percentRange([...all(x), ...all(y)]) : null;
    const range = (key) => both ?? (figure.units[key] === "percent" ? percentRange(all(key)) : undefined);
    const point = { x: (row) => number(figure, row, x), y: (row) => number(figure, row, y) };
    const ends = (key) => [`${key}_low`, `${key}_high`].map((end) => (row) => row[end] * factor(figure, key));
    const whiskers = known.length <= 20 && !figure.group ? known : [];
    const has = (key) => whiskers.filter((row) => row[`${key}_low`] != null && row[`${key}_high`] != null);
    const trend = figure.trend ? trendLine(known.map((row) => [point.x(row), point.y(row)])) : null;
    const height = Math.round(Math.min(width, 460) * 0.86);
    const made = plot(
      frame(width, LEFT, {
        height,
        marginTop: 26,
        marginBottom: BOTTOM,
        x: { domain: range(x), label: `${label(figure, x)} →`, nice: !both, ticks: 5 },
        y: { domain: range(y), label: `↑ ${label(figure, y)}`, nice: !both, ticks: 5 },
        marks: [
          both
            ? line(
                both.map((end) => [end, end]),
                { stroke: "var(--muted)", strokeDasharray: "4 4" },
              )
            : null,
          trend ? line(trend, { stroke: "var(--muted)", strokeDasharray: "4 4" }) : null,
          link(has(x), { x1: ends(x)[0], x2: ends(x)[1], y1: point.y, y2: point.y, stroke: "var(--edge)" }),
          link(has(y), { x1: point.x, x2: point.x, y1: ends(y)[0], y2: ends(y)[1], stroke: "var(--edge)" }),
          dot(known, {
            ...point,
            r: known.length > 40 ? 3.5 : 5,
            fill: "var(--accent)",
            stroke: "var(--panel)",
            title: (row) => [row[figure.label], shown(figure, row, y), shown(figure, row, x)].join("\n"),
            href: "href",
          }),
        ],
      }),
    );
    if (known.length <= 20)
      nameThePoints(made, figure, known, point, { left: LEFT, top: 0, right: width, bottom: height - BOTTOM });
    return made;
  },

  pairs(figure, rows, width) {
    const space = nameSpace(rows, figure.label, width);
    const [first, second] = figure.x;
    const known = rows.filter((row) => row[first] != null && row[second] != null);
    const y = (row) => known.indexOf(row);
    const value = (key) => (row) => number(figure, row, key);
    const title = (row) => [row[figure.label], shown(figure, row, first), shown(figure, row, second)].join("\n");
    return plot(
      frame(width, space, {
        height: 62 + 28 * known.length,
        marginBottom: 40,
        x: {
          domain: percentRange(known.flatMap((row) => [value(first)(row), value(second)(row)])),
          label: "%",
          grid: true,
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
            href: "href",
          }),
          dot(known, { x: value(second), y, r: 5, fill: "var(--accent)", title, href: "href" }),
        ],
      }),
    );
  },

  intervals(figure, rows, width) {
    const space = nameSpace(rows, figure.label, width);
    const [x] = figure.x;
    const known = rows.filter((row) => row[x] != null);
    const y = (row) => known.indexOf(row);
    const end = (name) => (row) => row[`${x}_${name}`] * factor(figure, x);
    return plot(
      frame(width, space, {
        height: 62 + 26 * known.length,
        marginBottom: 40,
        x: {
          label: `${label(figure, x)} →`,
          grid: true,
          nice: true,
          domain: figure.units[x] === "percent" ? [0, 100] : undefined,
        },
        y: { ...names(figure, known, space), type: "point" },
        marks: [
          figure.units[x] === "points" ? ruleX([0], { stroke: "var(--muted)", strokeDasharray: "4 4" }) : null,
          link(
            known.filter((row) => row[`${x}_low`] != null),
            { x1: end("low"), x2: end("high"), y1: y, y2: y, stroke: "var(--edge)", strokeWidth: 2 },
          ),
          dot(known, {
            x: (row) => number(figure, row, x),
            y,
            r: 5,
            fill: "var(--accent)",
            title: (row) => `${row[figure.label]}\n${shown(figure, row, x)}`,
            href: "href",
          }),
        ],
      }),
    );
  },

  heat(figure, rows, width) {
    const space = nameSpace(rows, figure.label, width);
    const cells = rows.flatMap((row, index) =>
      figure.x.map((key) => ({
        row,
        index,
        key,
        value: number(figure, row, key),
        href: row[`${key}_href`] ?? row.href,
      })),
    );
    const heads = figure.x.map((key) => figure.headings[key]);
    const shortened = shortNames(heads, (width - space) / heads.length - 6);
    const place = { x: (one) => figure.headings[one.key], y: "index" };
    return plot(
      frame(width, space, {
        height: 60 + 22 * rows.length,
        marginTop: 34,
        color: { type: "identity" },
        x: {
          domain: heads,
          axis: "top",
          label: null,
          tickSize: 0,
          tickFormat: (name) => shortened[heads.indexOf(name)],
        },
        y: names(figure, rows, space),
        marks: [
          cell(cells, {
            ...place,
            inset: 1,
            fill: (one) =>
              one.value == null
                ? "var(--sunk)"
                : `color-mix(in srgb, var(--accent) ${(one.value * 0.55).toFixed(0)}%, var(--panel))`,
            stroke: "var(--line)",
            title: (one) => `${one.row[figure.label]}\n${shown(figure, one.row, one.key)} %`,
            href: "href",
          }),
          text(cells, {
            ...place,
            text: (one) => (one.value == null ? "–" : one.value.toFixed(0)),
            fill: "var(--text)",
            pointerEvents: "none",
          }),
        ],
      }),
    );
  },
};

export const columnsFor = (figure, width) =>
  figure.kind !== "scatter" || width < NARROW ? 1 : Math.max(1, Math.min(3, Math.floor(width / 300)));

function nameThePoints(made, figure, rows, point, area) {
  const [x, y] = [made.scale("x"), made.scale("y")];
  const points = rows.map((row) => ({
    x: x.apply(point.x(row)),
    y: y.apply(point.y(row)),
    text: String(row[figure.label]),
  }));
  placeLabels(points, area).forEach((place, index) => {
    if (!place) return;
    const named = document.createElementNS("http://www.w3.org/2000/svg", "text");
    for (const [name, value] of Object.entries({
      x: place.x,
      y: place.y,
      "text-anchor": place.anchor,
      fill: "var(--text)",
      "pointer-events": "none",
      stroke: "var(--panel)",
      "stroke-width": 3,
      "paint-order": "stroke",
    }))
      named.setAttribute(name, String(value));
    named.textContent = points[index].text;
    made.append(named);
  });
}
