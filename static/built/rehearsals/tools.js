// static/js/rehearsals/tools.js
var filter = document.querySelector("[data-tool-filter]"), groups = [...document.querySelectorAll("[data-tool-group]")], opened = new Map(groups.map((group) => [group, group.open])), wordsOf = (text) => text.toLowerCase().replaceAll("_", " ");
filter && groups.length && (filter.hidden = !1, filter.addEventListener("input", () => {
  let wanted = wordsOf(filter.value).split(/\s+/).filter(Boolean), found = 0;
  for (let group of groups) {
    let here = 0, title = wordsOf(group.querySelector("summary").textContent);
    for (let row of group.querySelectorAll("[data-tool]"))
      row.hidden = !wanted.every((word) => (title + wordsOf(row.textContent)).includes(word)), here += row.hidden ? 0 : 1;
    group.hidden = !here, group.open = wanted.length ? here > 0 : opened.get(group), found += here;
  }
  document.querySelector("[data-tool-none]").hidden = found > 0;
}), filter.addEventListener("keydown", (event) => {
  event.key !== "Enter" && event.key !== "ArrowDown" || (event.preventDefault(), document.querySelector("[data-tool-group]:not([hidden]) [data-tool]:not([hidden]) a")?.focus());
}));
