/**
 * The SQL editor: CodeMirror, loaded when it is first opened. It lives in a shadow root, where its
 * styles are adopted style sheets, which the strict Content-Security-Policy allows.
 */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { dialect } from "../core/state.js";
import { buildCompletion } from "./editor_completion.js";

const DIALECTS = { postgres: "PostgreSQL", postgresql: "PostgreSQL", duckdb: "PostgreSQL", sqlite: "SQLite" };

function buildTheme(cm) {
  const theme = cm.EditorView.theme({
    "&": { color: "var(--ink)", backgroundColor: "var(--field)", fontSize: "14px", borderRadius: "10px" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", maxHeight: "46vh" },
    ".cm-content": { caretColor: "var(--ink)", padding: "12px 0", minHeight: "120px" },
    ".cm-gutters": { backgroundColor: "transparent", color: "var(--faint)", border: "none" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
    "&.cm-focused .cm-activeLine": { backgroundColor: "var(--hover)" },
    ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--accent-soft)" },
    ".cm-specialChar": { color: "var(--bad)" },
    ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "10px", overflow: "hidden", boxShadow: "var(--shadow)" },
    ".cm-tooltip-autocomplete ul li": { padding: "4px 10px" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
    ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "var(--on-accent)" },
    ".cm-completionDetail": { color: "var(--faint)", fontStyle: "normal", marginLeft: "12px" },
    ".cm-completionIcon": { display: "none" },
    ".cm-matchingBracket": { backgroundColor: "var(--accent-soft) !important" },
  });
  const { tags } = cm;
  const colours = cm.HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword], color: "var(--sql-keyword)", fontWeight: "600" },
    { tag: tags.string, color: "var(--sql-string)" },
    { tag: [tags.number, tags.bool, tags.null], color: "var(--sql-number)" },
    { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--faint)", fontStyle: "italic" },
  ]);
  return [theme, cm.syntaxHighlighting(colours)];
}

/**
 * @param {{given: {text: string}, change: (sql: string) => void, run: () => void, format: () => void, label: string, database: string}} props
 *   `given` is written into the editor when it is another object: what is typed goes the other way only
 */
export function Editor({ given, change, run, format, label, database, focus = true }) {
  const host = useRef(null);
  const view = useRef(null);
  const latest = useRef({});
  latest.current = { change, run, format };
  const [state, setState] = useState("loading");
  useEffect(() => {
    let isGone = false;
    import("../../vendor/codemirror.js").then(
      (cm) => {
        if (isGone) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        view.current = new cm.EditorView({ root, parent: root, state: cm.EditorState.create({ doc: given.text, extensions: extend(cm, latest, label, database) }) });
        setState("ready");
        if (focus) view.current.focus();
      },
      () => setState("failed"),
    );
    return () => {
      isGone = true;
      view.current?.destroy();
      view.current = null;
    };
  }, [database]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === given.text) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: given.text } });
  }, [given]);
  if (state === "failed") {
    return html`<label class="plain-editor">${label}<textarea rows="8" spellcheck=${false} defaultValue=${given.text} onInput=${(event) => change(event.target.value)}></textarea></label>`;
  }
  return html`<div class=${`editor ${state}`}><div class="editor-host" ref=${host}></div>${state === "loading" && html`<p class="faint" role="status">Opening the editor …</p>`}</div>`;
}

function extend(cm, latest, label, database) {
  const language = cm[DIALECTS[dialect.value.toLowerCase()] ?? "StandardSQL"];
  const leave = (editor) => {
    editor.contentDOM.blur();
    return true;
  };
  // What CodeMirror does at Escape: the list closes, and what it still waits for is dropped.
  const { run: closeCompletion } = cm.completionKeymap.find(({ key }) => key === "Escape");
  const runQuery = (editor) => {
    closeCompletion(editor);
    latest.current.run();
    return true;
  };
  const commands = [
    { key: "Mod-Enter", run: runQuery },
    { key: "Shift-Alt-f", run: () => (latest.current.format(), true) },
    { key: "Tab", run: cm.acceptCompletion },
  ];
  return [
    cm.history(), cm.drawSelection(), cm.lineNumbers(), cm.highlightActiveLine(), cm.bracketMatching(), cm.closeBrackets(),
    cm.highlightSpecialChars({ addSpecialChars: /[\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/gu }),
    cm.sql({ dialect: language, upperCaseKeywords: true }),
    cm.autocompletion({ override: [buildCompletion(database)], icons: false }),
    cm.keymap.of([...commands, ...cm.closeBracketsKeymap, ...cm.completionKeymap, ...cm.defaultKeymap, ...cm.historyKeymap, { key: "Escape", run: leave }]),
    cm.EditorView.lineWrapping,
    cm.EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
    cm.EditorView.updateListener.of((update) => update.docChanged && latest.current.change(update.state.doc.toString())),
    buildTheme(cm),
  ];
}
