/** The rows of a result: as table or chart, with the tools to filter, copy and download them. */

import { html, useId, useState } from "../../vendor/preact.js";
import { requestJson } from "../core/api.js";
import { buildRun, copyText, download, mostRows, writeTabs } from "../core/files.js";
import { count, plain } from "../core/text.js";
import { ChartView, useChart } from "./chart.js";
import { Button, Menu, Segments } from "./controls.js";
import { notify } from "./notices.js";
import { describeRows, readShown, ResultTable, useTable } from "./table.js";
import { Text } from "./text.js";

/**
 * Rows as table or chart, with what can be done with them.
 * @param {{answer: object, label?: string, note?: string}} props `note` follows their number
 */
export function Rows({ answer, label = "Rows of the answer", note = "" }) {
  const [more, setMore] = useState(null);
  const shown = more ?? answer;
  const table = useTable(shown.columns, shown.rows);
  const { roles, suggested } = useChart(shown.columns, shown.rows);
  const [view, setView] = useState("table");
  const [busy, setBusy] = useState(false);
  const id = useId();
  const loadMore = async () => {
    setBusy(true);
    try {
      const result = await requestJson("run", { method: "POST", body: buildRun(answer) });
      setMore({ ...answer, ...result, sql: answer.sql });
    } catch (problem) {
      notify(plain(problem.message));
    }
    setBusy(false);
  };
  if (shown.rows.length === 0 && shown.columns.length === 0) return null;
  return html`<section class="rows" aria-label=${label}>
    <div class="rows-head">
      ${suggested && html`<${Segments} label="Show the rows as" options=${[["table", "Table"], ["chart", "Chart"]]} chosen=${view} choose=${setView} />`}
      <p class="faint" id=${id} role="status">${describeRows(table, shown.truncated)}${note}${shown.truncated && buildRun(answer) && shown.rows.length < mostRows() && html` <button type="button" class="link" disabled=${busy} onClick=${loadMore}>${busy ? "Reading …" : `Read up to ${count(mostRows(), "row")}`}</button>`}</p>
      ${view === "table" && html`<${TableTools} table=${table} answer=${shown} />`}
    </div>
    ${view === "table"
      ? html`<${ResultTable} table=${table} cut=${shown.cut ?? []} label=${label} />`
      : html`<${ChartView} question=${answer.question} columns=${shown.columns} rows=${shown.rows} roles=${roles} suggested=${suggested} />`}
  </section>`;
}

const FILES = [["csv", "CSV", "for spreadsheets"], ["xlsx", "Excel", "with numbers and dates as such"], ["json", "JSON", "for programs"]];

function TableTools({ table, answer }) {
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
  const clear = (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (filter.text) setFilter({ ...filter, text: "" });
    else event.target.blur();
  };
  return html`<div class="table-tools">
    <div class="filter">
      <input type="search" placeholder="Filter rows" aria-label="Filter rows by text" autocomplete="off" spellcheck=${false}
        value=${filter.text} onInput=${(event) => setFilter({ ...filter, text: event.target.value })} onKeyDown=${clear} />
      ${columns.length > 1 && filter.text && html`<select aria-label="Column to filter" value=${filter.at} onChange=${(event) => setFilter({ ...filter, at: Number(event.target.value) })}>
        <option value=${-1}>all columns</option>
        ${columns.map((_, at) => html`<option value=${at}>${plain(names[at])}</option>`)}
      </select>`}
    </div>
    <div class="tools">
      ${columns.length > 1 && html`<${Menu} label="Columns" icon="columns">${() => html`
        <ul class="checks">${columns.map((column, at) => html`<li><label><input type="checkbox" checked=${!hidden.has(at)} onChange=${() => toggle(at)} />
          <${Text} value=${names[at]} /> <span class="faint"><${Text} value=${column.type} /></span></label></li>`)}</ul>`}<//>`}
      <${Button} icon="copy" onClick=${copy}>Copy</${Button}>
      ${answer && html`<${Downloads} answer=${answer} />`}
    </div>
  </div>`;
}

function Downloads({ answer }) {
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
  return html`<${Menu} label=${busy ? "Preparing …" : "Download"} icon="download">${(close) => html`
    ${kinds.map(([kind, name, use]) => html`<button type="button" onClick=${() => run(kind, close)}>${name} <span class="faint">${use}</span></button>`)}`}<//>`;
}
