/**
 * The SQL editor: CodeMirror, loaded when it is first opened. It lives in a shadow root, where its
 * styles are adopted style sheets, which the strict Content-Security-Policy allows.
 */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { dialect } from "../core/state.js";

const DIALECTS = { postgres: "PostgreSQL", duckdb: "PostgreSQL", sqlite: "SQLite" };

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
 * @param {{given: string, change: (sql: string) => void, run: () => void, label: string}} props
 *   `given` is what the editor begins with: what is typed goes the other way only
 */
export function Editor({ given, change, run, label }) {
  const host = useRef(null);
  const view = useRef(null);
  const latest = useRef({});
  latest.current = { change, run };
  const [state, setState] = useState("loading");
  useEffect(() => {
    let isGone = false;
    import("../../vendor/codemirror.js").then(
      (cm) => {
        if (isGone) return;
        const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
        view.current = new cm.EditorView({ root, parent: root, state: cm.EditorState.create({ doc: given, extensions: extend(cm, latest, label) }) });
        setState("ready");
        view.current.focus();
      },
      () => setState("failed"),
    );
    return () => {
      isGone = true;
      view.current?.destroy();
      view.current = null;
    };
  }, []);
  if (state === "failed") {
    return html`<label class="plain-editor">${label}<textarea rows="8" spellcheck=${false} defaultValue=${given} onInput=${(event) => change(event.target.value)}></textarea></label>`;
  }
  return html`<div class=${`editor ${state}`}><div ref=${host}></div>${state === "loading" && html`<p class="faint" role="status">Opening the editor …</p>`}</div>`;
}

function extend(cm, latest, label) {
  const language = cm[DIALECTS[dialect.value.toLowerCase()] ?? "StandardSQL"];
  const leave = (editor) => {
    editor.contentDOM.blur();
    return true;
  };
  const command = { key: "Mod-Enter", run: () => (latest.current.run(), true) };
  return [
    cm.history(), cm.drawSelection(), cm.lineNumbers(), cm.highlightActiveLine(), cm.bracketMatching(), cm.closeBrackets(),
    cm.highlightSpecialChars({ addSpecialChars: /[\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/gu }),
    cm.sql({ dialect: language, upperCaseKeywords: true }),
    cm.keymap.of([command, ...cm.closeBracketsKeymap, ...cm.defaultKeymap, ...cm.historyKeymap, { key: "Escape", run: leave }]),
    cm.EditorView.lineWrapping,
    cm.EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocorrect: "off", autocapitalize: "off" }),
    cm.EditorView.updateListener.of((update) => update.docChanged && latest.current.change(update.state.doc.toString())),
    buildTheme(cm),
  ];
}
