// Where the names of points go, so that they hide neither points nor one another.
const CHARACTER = 6.4;
const LINE = 13;
const GAP = 7;

export const textWidth = (text) => text.length * CHARACTER;

// Points as {x, y, text} in pixels. Returns one {x, y, anchor} for each, or null where no place is free.
export function placeLabels(points, width, height) {
  const taken = points.map(({ x, y }) => box(x - 5, y - 5, 10, 10));
  return points.map((point, own) => {
    const others = taken.filter((_, index) => index !== own);
    for (const place of places(point)) {
      const inside =
        place.box.left >= 0 && place.box.right <= width && place.box.top >= 0 && place.box.bottom <= height;
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
