// static/js/shared/progress.js
var STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -1 / 0],
  End: [0, 1 / 0]
}, cellsOf = (row) => [...row.querySelectorAll("a.cell")], rowsOf = (grid) => [...grid.querySelectorAll(".cells")].filter((row) => row.querySelector("a.cell"));
function choose(grid, cell) {
  for (let other of grid.querySelectorAll('a.cell[tabindex="0"]')) other.tabIndex = -1;
  cell.tabIndex = 0;
}
function describe(grid, cell) {
  let who = cell.closest("ol").getAttribute("aria-label");
  grid.querySelector("[data-progress-status]").textContent = `${cell.title} – ${who.replace(/^Sessions of /, "")}`;
}
for (let grid of document.querySelectorAll("[data-progress]")) {
  let all = [...grid.querySelectorAll("a.cell")];
  for (let [place, cell] of all.entries()) cell.tabIndex = place ? -1 : 0;
  grid.addEventListener("keydown", (event) => {
    let step = STEPS[event.key], cell = event.target.closest("a.cell");
    if (!step || !cell || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    let rows = rowsOf(grid), here = rows.indexOf(cell.closest(".cells")), row = cellsOf(rows[Math.min(rows.length - 1, Math.max(0, here + step[0]))]), place = cellsOf(rows[here]).indexOf(cell) + step[1];
    row[Math.min(row.length - 1, Math.max(0, place))].focus();
  }), grid.addEventListener("focusin", (event) => {
    let cell = event.target.closest("a.cell");
    cell && (choose(grid, cell), describe(grid, cell));
  }), grid.addEventListener("pointerover", (event) => {
    let cell = event.target.closest("a.cell");
    cell && describe(grid, cell);
  });
}
