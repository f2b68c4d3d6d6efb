// The parts of CodeMirror 6 that the SQL editor uses.
export { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { PostgreSQL, sql, SQLite, StandardSQL } from "@codemirror/lang-sql";
export { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { EditorState } from "@codemirror/state";
export { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
export { tags } from "@lezer/highlight";
