/** The tools above a table: filter, columns, copy, download. */

import { html, useRef, useState } from "../../vendor/preact.js";
import { buildRun, copyText, download, writeTabs } from "../core/files.js";
import { useAction } from "../core/keys.js";
import { count, plain } from "../core/text.js";
import { Button, Menu } from "./controls.js";
import { notify } from "./notices.js";
import { readShown } from "./table.js";
import { Text } from "./text.js";

const FILES = [["csv", "CSV", "for spreadsheets"], ["parquet", "Parquet", "for data tools"], ["json", "JSON", "for programs"]];

/** `mine`: whether the keys act on this table. */
export function TableTools({ table, answer, mine }) {
  const field = useRef(null);
  const { columns, names, filter, setFilter, hidden, toggle } = table;
  const copy = async () => {
    const shown = readShown(table);
    try {
      await copyText(writeTabs(shown.columns, shown.rows));
      notify(`Copied ${count(shown.rows.length, "row")}, exact values`);
    } catch {
      notify("The browser did not allow copying.");
    }
  };
  useAction("filter", () => (mine() ? field.current?.focus() : false));
  useAction("copy", () => (mine() ? void copy() : false));
  const clear = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (filter.text) setFilter({ ...filter, text: "" });
    else event.target.blur();
  };
  return html`<div class="table-tools">
    <div class="filter">
      <input ref=${field} type="search" placeholder="Filter rows" aria-label="Filter rows by text" title="(f)" autocomplete="off" spellcheck=${false}
        value=${filter.text} onInput=${(event) => setFilter({ ...filter, text: event.target.value })} onKeyDown=${clear} />
      ${columns.length > 1 && filter.text && html`<select aria-label="Column to filter" value=${filter.at} onChange=${(event) => setFilter({ ...filter, at: Number(event.target.value) })}>
        <option value=${-1}>all columns</option>
        ${columns.map((_, at) => html`<option value=${at}>${plain(names[at])}</option>`)}
      </select>`}
    </div>
    <div class="tools">
      ${columns.length > 1 && html`<${Menu} label="Columns" icon="columns" align="end" hint="o" action="columns" mine=${mine}>${() => html`
        <ul class="checks">${columns.map((column, at) => html`<li><label><input type="checkbox" checked=${!hidden.has(at)} onChange=${() => toggle(at)} />
          <${Text} value=${names[at]} /> <span class="faint"><${Text} value=${column.type} /></span></label></li>`)}</ul>`}<//>`}
      <${Button} icon="copy" hint="c" onClick=${copy}>Copy</${Button}>
      ${answer && html`<${Downloads} answer=${answer} mine=${mine} />`}
    </div>
  </div>`;
}

function Downloads({ answer, mine }) {
  const [busy, setBusy] = useState(false);
  const kinds = FILES.filter(([kind]) => buildRun(answer) || kind === "json");
  const run = async (kind, close) => {
    close();
    setBusy(true);
    try {
      await download(kind, answer);
      notify("Downloaded");
    } catch (problem) {
      notify(`Not downloaded. ${plain(problem.message)}`, { ms: 9000 });
    }
    setBusy(false);
  };
  return html`<${Menu} label=${busy ? "Preparing …" : "Download"} icon="download" align="end" hint="d" action="download" mine=${mine}>${(close) => html`
    ${kinds.map(([kind, name, use]) => html`<button type="button" onClick=${() => run(kind, close)}>${name} <span class="faint">${use}</span></button>`)}`}<//>`;
}
