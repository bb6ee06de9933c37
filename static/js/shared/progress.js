// Progress grids: one stop for Tab, arrows move between tasks, and the line below names the current one.
const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  Home: [0, -Infinity],
  End: [0, Infinity],
};

const cellsOf = (row) => [...row.querySelectorAll("a.cell")];
const rowsOf = (grid) => [...grid.querySelectorAll(".cells")].filter((row) => row.querySelector("a.cell"));

function choose(grid, cell) {
  for (const other of grid.querySelectorAll('a.cell[tabindex="0"]')) other.tabIndex = -1;
  cell.tabIndex = 0;
}

function describe(grid, cell) {
  const who = cell.closest("ol").getAttribute("aria-label");
  grid.querySelector("[data-progress-status]").textContent = `${cell.title} – ${who.replace(/^Sessions of /, "")}`;
}

for (const grid of document.querySelectorAll("[data-progress]")) {
  const all = [...grid.querySelectorAll("a.cell")];
  for (const [place, cell] of all.entries()) cell.tabIndex = place ? -1 : 0;
  grid.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    const cell = event.target.closest("a.cell");
    if (!step || !cell || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const rows = rowsOf(grid);
    const here = rows.indexOf(cell.closest(".cells"));
    const row = cellsOf(rows[Math.min(rows.length - 1, Math.max(0, here + step[0]))]);
    const place = cellsOf(rows[here]).indexOf(cell) + step[1];
    row[Math.min(row.length - 1, Math.max(0, place))].focus();
  });
  grid.addEventListener("focusin", (event) => {
    const cell = event.target.closest("a.cell");
    if (!cell) return;
    choose(grid, cell);
    describe(grid, cell);
  });
  grid.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("a.cell");
    if (cell) describe(grid, cell);
  });
}
