// A drawing as a file: light, on white, with every colour and font written out, since the page's variables end here.
const PAINTED = ["fill", "stroke", "color"];
const SCALE = 2;

export async function save(svg, name, kind) {
  const text = new XMLSerializer().serializeToString(standalone(svg));
  const drawing = new Blob([`<?xml version="1.0" encoding="UTF-8"?>\n${text}`], { type: "image/svg+xml" });
  download(kind === "png" ? await rasterised(drawing, svg) : drawing, `${name}.${kind}`);
}

export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const before = svg.style.colorScheme;
  svg.style.colorScheme = "light";
  const parts = [svg, ...svg.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  parts.forEach((part, index) => {
    const style = getComputedStyle(part);
    for (const name of PAINTED) {
      const given = part.getAttribute(name);
      if (given && given !== "none") copies[index].setAttribute(name, plain(style.getPropertyValue(name)));
    }
    copies[index].removeAttribute("style");
    copies[index].removeAttribute("class");
    if (part.localName === "a") copies[index].replaceWith(...copies[index].childNodes);
  });
  const ink = plain(getComputedStyle(svg).color);
  svg.style.colorScheme = before;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("color", ink);
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.setAttribute("font-size", "12");
  copy.removeAttribute("aria-hidden");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", "#ffffff");
  copy.prepend(ground);
  return copy;
}

// As programs that know no CSS colour functions read it.
export function plain(colour) {
  const parts = /^color\(srgb ([\d.]+) ([\d.]+) ([\d.]+)\)$/.exec(colour);
  return parts
    ? `rgb(${parts
        .slice(1)
        .map((part) => Math.round(Number(part) * 255))
        .join(", ")})`
    : colour;
}

async function rasterised(drawing, svg) {
  const address = URL.createObjectURL(drawing);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    for (const side of ["width", "height"]) canvas[side] = SCALE * Number(svg.getAttribute(side));
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => {
      canvas.toBlob(resolve, "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
