// static/js/graders/editor.js
import {
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  defaultKeymap,
  drawSelection,
  EditorState,
  EditorView,
  HighlightStyle,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSelectionMatches,
  highlightSpecialChars,
  history,
  historyKeymap,
  indentOnInput,
  indentUnit,
  indentWithTab,
  json,
  keymap,
  lineNumbers,
  lintGutter,
  python,
  searchKeymap,
  setDiagnostics,
  syntaxHighlighting,
  tags
} from "../../vendor/codemirror/codemirror.min.js";
var colours = HighlightStyle.define([
  { tag: [tags.comment, tags.docString], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword], color: "var(--group-1)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--group-3)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--info)" },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--group-2)" },
  { tag: tags.invalid, color: "var(--bad)" }
]), looks = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    lineHeight: "1.6",
    maxHeight: "var(--code-height, 70vh)",
    overflow: "auto"
  },
  ".cm-content": { caretColor: "var(--text)", paddingBlock: "8px" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunk)", color: "var(--muted)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--accent-soft) 45%, transparent)"
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important"
  },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
  ".cm-panels, .cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line)"
  },
  ".cm-diagnostic": { borderLeftColor: "var(--bad)", padding: "4px 8px" }
}), LANGUAGES = { python: [python(), indentUnit.of("    ")], json: [json(), indentUnit.of("  ")] }, views = /* @__PURE__ */ new Map();
function run() {
  return document.querySelector("[data-run]")?.click(), !0;
}
function enhance(area) {
  if (views.has(area)) return;
  let host = document.createElement("div");
  host.className = "code-host", host.attachShadow({ mode: "open" });
  let label = area.labels?.[0]?.textContent.trim() ?? "Text", view = new EditorView({
    root: host.shadowRoot,
    parent: host.shadowRoot,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        lineNumbers(),
        lintGutter(),
        highlightActiveLineGutter(),
        highlightSpecialChars(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightSelectionMatches(),
        syntaxHighlighting(colours),
        looks,
        LANGUAGES[area.dataset.code] ?? [],
        EditorState.tabSize.of(4),
        EditorState.readOnly.of(area.readOnly),
        keymap.of([
          { key: "Mod-Enter", run },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...searchKeymap,
          ...historyKeymap,
          indentWithTab
        ]),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          update.docChanged && (area.value = update.state.doc.toString(), area.dispatchEvent(new Event("input", { bubbles: !0 })));
        })
      ]
    })
  });
  host.addEventListener("keydown", (event) => {
    (event.ctrlKey || event.metaKey) && ["s", "k"].includes(event.key) || event.stopPropagation();
  });
  for (let each of area.labels ?? []) each.addEventListener("click", () => view.focus());
  area.after(host), area.hidden = !0, views.set(area, view), area.dataset.problemLine && point(view, Number(area.dataset.problemLine), area.dataset.problem);
  let help = area.form?.querySelector("[data-code-help]");
  help && (help.hidden = !1);
}
function point(view, number, message) {
  if (number > view.state.doc.lines) return;
  let line = view.state.doc.line(number), from = line.from + (line.text.length - line.text.trimStart().length);
  view.dispatch(setDiagnostics(view.state, [{ from, to: Math.max(line.to, from), severity: "error", message }]));
}
function source() {
  return views.get(document.querySelector("#source"));
}
document.addEventListener("studio:replaced", (event) => {
  let view = views.get(event.target), text = event.target.value;
  if (!view || view.state.doc.toString() === text) return;
  let caret = Math.min(view.state.selection.main.head, text.length);
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: caret } });
});
function look(root) {
  for (let area of root.querySelectorAll("textarea[data-code]")) enhance(area);
}
look(document);
document.addEventListener("htmx:afterSettle", (event) => {
  if (look(event.target), event.target.id !== "trial" || !source()) return;
  let found = event.target.querySelector("[data-problem-line]");
  found ? point(source(), Number(found.dataset.problemLine), found.dataset.problem) : source().dispatch(setDiagnostics(source().state, []));
});
document.addEventListener("input", (event) => {
  let choice = document.querySelector("#history");
  event.target.id === "example" && choice && (choice.value = "example");
});
document.addEventListener("click", (event) => {
  let link = event.target.closest?.("[data-go-line]");
  if (!link || !source()) return;
  event.preventDefault();
  let view = source(), number = Math.min(Number(link.dataset.goLine), view.state.doc.lines);
  view.dispatch({ selection: { anchor: view.state.doc.line(number).from }, scrollIntoView: !0 }), view.focus();
});
