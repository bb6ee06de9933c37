// Tools of a rehearsal: typing looks among their names and what they do.
const filter = document.querySelector("[data-tool-filter]");
const groups = [...document.querySelectorAll("[data-tool-group]")];
const opened = new Map(groups.map((group) => [group, group.open]));
const wordsOf = (text) => text.toLowerCase().replaceAll("_", " ");

if (filter && groups.length) {
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const wanted = wordsOf(filter.value).split(/\s+/).filter(Boolean);
    let found = 0;
    for (const group of groups) {
      let here = 0;
      const title = wordsOf(group.querySelector("summary").textContent);
      for (const row of group.querySelectorAll("[data-tool]")) {
        row.hidden = !wanted.every((word) => (title + wordsOf(row.textContent)).includes(word));
        here += row.hidden ? 0 : 1;
      }
      group.hidden = !here;
      group.open = wanted.length ? here > 0 : opened.get(group);
      found += here;
    }
    document.querySelector("[data-tool-none]").hidden = found > 0;
  });
  filter.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    event.preventDefault();
    document.querySelector("[data-tool-group]:not([hidden]) [data-tool]:not([hidden]) a")?.focus();
  });
}
