// Where the names of points go, so that they hide neither points nor one another.
const CHARACTER = 6.4;
const LINE = 13;
const GAP = 7;

export const textWidth = (text) => text.length * CHARACTER;

// Names in a space of so many pixels. Where one does not fit, what all of them begin and end with is left out first.
export function shortNames(names, space) {
  const most = Math.max(6, Math.floor(space / CHARACTER));
  const cut = names.some((name) => name.length > most) ? alikeAtEnds(names) : [0, 0];
  return names.map((name) => {
    const rest = name.slice(cut[0], name.length - cut[1]);
    return rest.length > most ? `${rest.slice(0, most - 1)}…` : rest;
  });
}

// How many characters all names have in common at the start and at the end, in whole words.
function alikeAtEnds(names) {
  const different = [...new Set(names)];
  if (different.length < 2) return [0, 0];
  const words = different.map((name) => name.match(/[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu) ?? []);
  const alike = (at) => {
    const fewest = Math.min(...words.map((one) => one.length)) - 1;
    let count = 0;
    while (count < fewest && words.every((one) => one.at(at(count)) === words[0].at(at(count)))) count += 1;
    return count;
  };
  const first = alike((index) => index);
  const last = Math.min(
    alike((index) => -1 - index),
    Math.min(...words.map((one) => one.length)) - first - 1,
  );
  const length = (some) => some.join("").length;
  return [length(words[0].slice(0, first)), last ? length(words[0].slice(-last)) : 0];
}

// Points as {x, y, text} in pixels, and the area that names may stand in. Returns one {x, y, anchor} for each, or null
// where no place is free.
export function placeLabels(points, area) {
  const taken = points.map(({ x, y }) => box(x - 5, y - 5, 10, 10));
  return points.map((point, own) => {
    const others = taken.filter((_, index) => index !== own);
    for (const place of places(point)) {
      const inside =
        place.box.left >= area.left &&
        place.box.right <= area.right &&
        place.box.top >= area.top &&
        place.box.bottom <= area.bottom;
      if (!inside || others.some((other) => overlap(other, place.box))) continue;
      taken.push(place.box);
      return { x: place.x, y: place.y, anchor: place.anchor };
    }
    return null;
  });
}

function* places({ x, y, text }) {
  const wide = textWidth(text);
  for (const [dx, dy, anchor] of [
    [GAP, -GAP + 2, "start"],
    [GAP, GAP + 8, "start"],
    [-GAP, -GAP + 2, "end"],
    [-GAP, GAP + 8, "end"],
    [GAP, 4, "start"],
    [-GAP, 4, "end"],
    [0, -GAP - 2, "middle"],
    [0, GAP + 10, "middle"],
    [GAP, -GAP + 2 - LINE, "start"],
    [-GAP, -GAP + 2 - LINE, "end"],
  ]) {
    const left = anchor === "start" ? x + dx : anchor === "end" ? x + dx - wide : x + dx - wide / 2;
    yield { x: x + dx, y: y + dy, anchor, box: box(left, y + dy - LINE + 3, wide, LINE) };
  }
}

const box = (left, top, width, height) => ({ left, top, right: left + width, bottom: top + height });
const overlap = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// The range of an axis of percents: tens around the values.
export function percentRange(values) {
  if (!values.length) return [0, 100];
  const low = Math.max(0, Math.floor((Math.min(...values) - 3) / 10) * 10);
  return [low, Math.min(100, Math.max(low + 10, Math.ceil((Math.max(...values) + 3) / 10) * 10))];
}

// Ends of the line of least squares through points as [x, y]; null if they do not vary in x.
export function trendLine(points) {
  const count = points.length;
  const mean = (index) => points.reduce((sum, point) => sum + point[index], 0) / count;
  const [x, y] = [mean(0), mean(1)];
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  if (count < 3 || spread < 1e-9) return null;
  const slope = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread;
  const ends = [Math.min(...points.map((point) => point[0])), Math.max(...points.map((point) => point[0]))];
  return ends.map((end) => [end, y + slope * (end - x)]);
}
