import {
  blank,
  rowsOf,
  undoable
} from "../chunks/chunk-6YM6RD3V.js";

// static/js/personas/app_table.js
var grid = document.querySelector("[data-grid]"), list = grid?.querySelector("[data-rows]"), CELLS = "td :is(input:not([type=hidden]), textarea, select)", cellsOf = (row) => [...row.querySelectorAll(CELLS)];
function below(cell, by, adding) {
  let row = cell.closest("[data-row]"), rows = rowsOf(list), place = cellsOf(row).indexOf(cell), next = rows[rows.indexOf(row) + by];
  if (!next && adding)
    return undoable(list, () => {
      next = blank(list, row);
    }), cellsOf(next)[Math.min(place, 1)]?.focus();
  cellsOf(next ?? row)[place]?.focus();
}
list?.addEventListener("keydown", (event) => {
  let cell = event.target;
  if (!cell.matches?.(CELLS) || event.isComposing) return;
  let long = cell.matches("textarea");
  event.key === "Enter" && !event.altKey && !event.shiftKey && !event.ctrlKey && !event.metaKey ? (event.preventDefault(), below(cell, 1, !0)) : event.key === "Enter" && long && event.altKey ? (event.preventDefault(), cell.setRangeText(`
`, cell.selectionStart, cell.selectionEnd, "end"), cell.dispatchEvent(new Event("input", { bubbles: !0 }))) : event.ctrlKey && ["ArrowUp", "ArrowDown"].includes(event.key) && (event.preventDefault(), below(cell, event.key === "ArrowUp" ? -1 : 1, !1));
});
list?.addEventListener("paste", (event) => {
  let text = event.clipboardData?.getData("text/plain") ?? "", cell = event.target;
  !text.includes("	") || !cell.matches?.(CELLS) || (event.preventDefault(), undoable(list, () => {
    let first = cellsOf(cell.closest("[data-row]")).indexOf(cell), row = cell.closest("[data-row]");
    for (let line of text.replace(/\r?\n$/, "").split(/\r?\n/)) {
      row ??= blank(list, rowsOf(list).at(-1));
      let cells = cellsOf(row);
      line.split("	").forEach((value, index) => {
        cells[first + index] && (cells[first + index].value = value);
      });
      let rows = rowsOf(list);
      row = rows[rows.indexOf(row) + 1];
    }
  }));
});
document.addEventListener("studio:changed", () => {
  let none = document.querySelector("[data-none]");
  none && (none.hidden = rowsOf(list).length > 0);
});
