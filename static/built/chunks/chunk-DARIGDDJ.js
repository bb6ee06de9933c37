// static/js/shared/tool_picker.js
var wordsOf = (row) => row.querySelector("label").textContent.toLowerCase().replaceAll("_", " ");
function start(picker) {
  let filter = picker.querySelector("[data-picker-filter]"), list = picker.querySelector("[data-picker-list]"), clear = picker.querySelector("[data-picker-clear]"), count = picker.querySelector("[data-picker-count]"), rows = [...list.querySelectorAll("[data-picker-row]")], box = (row) => row.querySelector("input[type=checkbox]"), shown = () => rows.filter((row) => !row.hidden), domains = [...list.querySelectorAll("[data-picker-domain]")];
  function shownOf(domain) {
    let found = [];
    for (let row = domain.nextElementSibling; row?.matches("[data-picker-row]"); row = row.nextElementSibling)
      row.hidden || found.push(row);
    return found;
  }
  function showCount() {
    let picked = rows.filter((row) => box(row).checked).length;
    count.textContent = picked ? `${picked} ${count.dataset.of}` : count.dataset.all, clear.hidden = !picked;
    for (let domain of domains) {
      let there = shownOf(domain), all = domain.querySelector("[data-picker-all]");
      domain.hidden = !there.length, all.hidden = !1, all.textContent = there.every((row) => box(row).checked) ? "Pick none" : filter.value ? "Pick these" : "Pick all", all.setAttribute("aria-label", `${all.textContent} of ${all.dataset.name}`);
    }
  }
  function pick(changed, checked) {
    for (let row of changed) box(row).checked = checked;
    showCount(), picker.dispatchEvent(new CustomEvent("studio:changed", { bubbles: !0 }));
  }
  function filterRows() {
    let wanted = filter.value.toLowerCase().replaceAll("_", " ").split(/\s+/).filter(Boolean);
    for (let row of rows) row.hidden = !wanted.every((word) => wordsOf(row).includes(word));
    picker.querySelector("[data-picker-none]").hidden = shown().length > 0, showCount();
  }
  function move(from, by) {
    let there = shown(), next = there[there.indexOf(from) + by];
    next ? box(next).focus() : by < 0 && filter.focus();
  }
  filter.hidden = !1, picker.querySelector("[data-picker-keys]").hidden = !1, filter.addEventListener("input", (event) => {
    event.stopPropagation(), filterRows();
  }), filter.addEventListener("change", (event) => event.stopPropagation()), picker.addEventListener("keydown", (event) => {
    if (event.target === filter) {
      if (event.key === "ArrowDown") move(null, 1);
      else if (event.key === "Enter") shown().length === 1 && box(shown()[0]).click();
      else if (event.key === "Escape" && filter.value)
        filter.value = "", filterRows(), event.stopPropagation();
      else return;
      return event.preventDefault();
    }
    let row = event.target.matches("input[type=checkbox]") && event.target.closest("[data-picker-row]");
    !row || !["ArrowDown", "ArrowUp"].includes(event.key) || (event.preventDefault(), move(row, event.key === "ArrowDown" ? 1 : -1));
  }), list.addEventListener("change", showCount), list.addEventListener("click", (event) => {
    let domain = event.target.closest("[data-picker-all]")?.closest("[data-picker-domain]");
    if (!domain) return;
    let there = shownOf(domain);
    pick(there, !there.every((row) => box(row).checked));
  }), clear.addEventListener("click", () => {
    pick(rows, !1), filter.focus();
  }), showCount();
}
for (let picker of document.querySelectorAll("[data-picker]")) start(picker);
document.addEventListener(
  "toggle",
  async (event) => {
    let fold = event.target;
    if (!fold.open || !fold.matches?.("[data-skill-text]") || fold.querySelector(".drawn")) return;
    let answer = await fetch(`${fold.dataset.skillText}?part=text`, { redirect: "error" }).catch(() => null);
    if (!answer?.ok) return;
    let text = document.createElement("div");
    text.innerHTML = await answer.text(), fold.querySelector("summary").after(text);
  },
  !0
);
