// Tools and skills: typing filters the list, arrows move, Space picks. With nothing picked, a task has all of its persona's.
const wordsOf = (row) => row.querySelector("label").textContent.toLowerCase().replaceAll("_", " ");

function start(picker) {
  const filter = picker.querySelector("[data-picker-filter]");
  const list = picker.querySelector("[data-picker-list]");
  const clear = picker.querySelector("[data-picker-clear]");
  const count = picker.querySelector("[data-picker-count]");
  const rows = [...list.querySelectorAll("[data-picker-row]")];
  const box = (row) => row.querySelector("input[type=checkbox]");
  const shown = () => rows.filter((row) => !row.hidden);
  const domains = [...list.querySelectorAll("[data-picker-domain]")];
  function shownOf(domain) {
    const found = [];
    for (let row = domain.nextElementSibling; row?.matches("[data-picker-row]"); row = row.nextElementSibling)
      if (!row.hidden) found.push(row);
    return found;
  }

  function showCount() {
    const picked = rows.filter((row) => box(row).checked).length;
    count.textContent = picked ? `${picked} ${count.dataset.of}` : count.dataset.all;
    clear.hidden = !picked;
    for (const domain of domains) {
      const there = shownOf(domain);
      const all = domain.querySelector("[data-picker-all]");
      domain.hidden = !there.length;
      all.hidden = false;
      all.textContent = there.every((row) => box(row).checked) ? "Pick none" : filter.value ? "Pick these" : "Pick all";
      all.setAttribute("aria-label", `${all.textContent} of ${all.dataset.name}`);
    }
  }
  function pick(changed, checked) {
    for (const row of changed) box(row).checked = checked;
    showCount();
    picker.dispatchEvent(new CustomEvent("studio:changed", { bubbles: true }));
  }
  function filterRows() {
    const wanted = filter.value.toLowerCase().replaceAll("_", " ").split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !wanted.every((word) => wordsOf(row).includes(word));
    picker.querySelector("[data-picker-none]").hidden = shown().length > 0;
    showCount();
  }
  function move(from, by) {
    const there = shown();
    const next = there[there.indexOf(from) + by];
    if (next) box(next).focus();
    else if (by < 0) filter.focus();
  }

  filter.hidden = false;
  picker.querySelector("[data-picker-keys]").hidden = false;
  filter.addEventListener("input", (event) => {
    event.stopPropagation(); // looking for something changes nothing of the task
    filterRows();
  });
  filter.addEventListener("change", (event) => event.stopPropagation());
  picker.addEventListener("keydown", (event) => {
    if (event.target === filter) {
      if (event.key === "ArrowDown") move(null, 1);
      else if (event.key === "Enter") shown().length === 1 && box(shown()[0]).click();
      else if (event.key === "Escape" && filter.value) {
        filter.value = "";
        filterRows();
        event.stopPropagation();
      } else return;
      return event.preventDefault();
    }
    const row = event.target.matches("input[type=checkbox]") && event.target.closest("[data-picker-row]");
    if (!row || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    move(row, event.key === "ArrowDown" ? 1 : -1);
  });
  list.addEventListener("change", showCount);
  list.addEventListener("click", (event) => {
    const domain = event.target.closest("[data-picker-all]")?.closest("[data-picker-domain]");
    if (!domain) return;
    const there = shownOf(domain);
    pick(there, !there.every((row) => box(row).checked));
  });
  clear.addEventListener("click", () => {
    pick(rows, false);
    filter.focus();
  });
  showCount();
}

for (const picker of document.querySelectorAll("[data-picker]")) start(picker);

// A skill's text is loaded when it is unfolded.
document.addEventListener(
  "toggle",
  async (event) => {
    const fold = event.target;
    if (!fold.open || !fold.matches?.("[data-skill-text]") || fold.querySelector(".drawn")) return;
    const answer = await fetch(`${fold.dataset.skillText}?part=text`, { redirect: "error" }).catch(() => null);
    if (!answer?.ok) return;
    const text = document.createElement("div");
    text.innerHTML = await answer.text();
    fold.querySelector("summary").after(text);
  },
  true,
);
