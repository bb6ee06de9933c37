export { EditorState } from "@codemirror/state";
export {
  drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
export { lintGutter, setDiagnostics } from "@codemirror/lint";
export { python } from "@codemirror/lang-python";
export { json } from "@codemirror/lang-json";
export { tags } from "@lezer/highlight";
