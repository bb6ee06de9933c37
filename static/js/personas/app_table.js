// A table of app data as a grid: Enter goes to the row below, Ctrl with an arrow up or down, and rows copied from a
// spreadsheet are pasted over as many cells.
import { blank, rowsOf, undoable } from "../shared/rows.js";

const grid = document.querySelector("[data-grid]");
const list = grid?.querySelector("[data-rows]");
const CELLS = "td :is(input:not([type=hidden]), textarea, select)";
const cellsOf = (row) => [...row.querySelectorAll(CELLS)];

function below(cell, by, adding) {
  const row = cell.closest("[data-row]");
  const rows = rowsOf(list);
  const place = cellsOf(row).indexOf(cell);
  let next = rows[rows.indexOf(row) + by];
  if (!next && adding) {
    undoable(list, () => {
      next = blank(list, row);
    });
    return cellsOf(next)[Math.min(place, 1)]?.focus();
  }
  cellsOf(next ?? row)[place]?.focus();
}

list?.addEventListener("keydown", (event) => {
  const cell = event.target;
  if (!cell.matches?.(CELLS) || event.isComposing) return;
  const long = cell.matches("textarea");
  if (event.key === "Enter" && !event.altKey && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    below(cell, 1, true);
  } else if (event.key === "Enter" && long && event.altKey) {
    event.preventDefault();
    cell.setRangeText("\n", cell.selectionStart, cell.selectionEnd, "end");
    cell.dispatchEvent(new Event("input", { bubbles: true }));
  } else if (event.ctrlKey && ["ArrowUp", "ArrowDown"].includes(event.key)) {
    event.preventDefault();
    below(cell, event.key === "ArrowUp" ? -1 : 1, false);
  }
});

list?.addEventListener("paste", (event) => {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  const cell = event.target;
  if (!text.includes("\t") || !cell.matches?.(CELLS)) return;
  event.preventDefault();
  undoable(list, () => {
    const first = cellsOf(cell.closest("[data-row]")).indexOf(cell);
    let row = cell.closest("[data-row]");
    for (const line of text.replace(/\r?\n$/, "").split(/\r?\n/)) {
      row ??= blank(list, rowsOf(list).at(-1));
      const cells = cellsOf(row);
      line.split("\t").forEach((value, index) => {
        if (cells[first + index]) cells[first + index].value = value;
      });
      const rows = rowsOf(list);
      row = rows[rows.indexOf(row) + 1];
    }
  });
});

document.addEventListener("studio:changed", () => {
  const none = document.querySelector("[data-none]");
  if (none) none.hidden = rowsOf(list).length > 0;
});
