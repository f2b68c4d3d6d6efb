/** The data that can be asked: tables by search on the server, definitions by search here, either in detail. */

import { html, useState } from "../../../vendor/preact.js";
import { query } from "../../core/api.js";
import { useDelayed, useLoaded } from "../../core/loading.js";
import { go, href, route } from "../../core/router.js";
import { database, databases } from "../../core/state.js";
import { count, plain } from "../../core/text.js";
import { Loading, More } from "../../components/notices.js";
import { Text } from "../../components/text.js";
import { Definitions, FoundDefinitions } from "./definitions.js";
import { TableDetail } from "./table_detail.js";

const PAGE = 60;
const PAUSE_MS = 140;

export function SchemaView() {
  const [name = database.value, chosen = "", ...definition] = route.value.parts;
  const [text, setText] = useState("");
  const search = useDelayed(text, PAUSE_MS);
  const base = `databases/${encodeURIComponent(name)}`;
  const first = useLoaded(name ? `${base}/tables${query({ search, limit: PAGE })}` : null);
  const isDefinitions = chosen === ":definitions";
  return html`<div class=${`page split ${chosen ? "has-choice" : ""}`}>
    <div class="split-list">
      <h1 tabindex="-1">Data</h1>
      ${databases.value.length > 1 && html`<label class="choice block"><span>Database</span><select value=${name} onChange=${(event) => { database.value = event.target.value; go("schema", event.target.value); }}>
        ${databases.value.map((one) => html`<option value=${one.name}>${plain(one.name)}</option>`)}</select></label>`}
      <input type="search" class="search" placeholder="Tables, columns, definitions" aria-label="Search tables, columns and definitions" autocomplete="off" spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)} />
      <nav aria-label="Tables and definitions">
        <p><a class=${`row-link ${isDefinitions ? "current" : ""}`} aria-current=${isDefinitions ? "page" : undefined} href=${href("schema", name, ":definitions")}>Agreed definitions</a></p>
        ${search.trim() && name && html`<${FoundDefinitions} base=${base} name=${name} search=${search} chosen=${definition} />`}
        ${first.data ? html`<p class="faint list-count" role="status">${count(first.data.total, "table")}${search ? " found" : ""}</p>` : html`<${Loading} state=${first} retry=${first.retry} />`}
        ${first.data && html`<${Tables} page=${first.data} name=${name} chosen=${chosen} />`}
        <${More} loaded=${first} list="tables" />
      </nav>
    </div>
    <div class="split-detail">
      ${chosen && html`<p class="back"><a href=${href("schema", name)}>← All tables</a></p>`}
      ${isDefinitions ? html`<${Definitions} key=${base} base=${base} chosen=${definition} />` : chosen ? html`<${TableDetail} key=${chosen} base=${base} name=${name} table=${chosen} />`
        : html`<div class="hint"><p>Pick a table to see what it holds, what its columns mean, and what it is related to.</p><p class="faint">You see what you may see. Tables that are hidden from you are not listed.</p></div>`}
    </div>
  </div>`;
}

/** The tables, under the names of their schemas where the database has more than one. */
function Tables({ page, name, chosen }) {
  const render = (tables, schema) => html`<ul class="table-list">${tables.map((one) => html`<${TableRow} key=${one.table} one=${one} schema=${schema} name=${name} isCurrent=${one.table === chosen} />`)}</ul>`;
  if (page.schemas < 2) return render(page.tables, "");
  const groups = new Map();
  for (const one of page.tables) {
    if (!groups.has(one.database_schema)) groups.set(one.database_schema, []);
    groups.get(one.database_schema).push(one);
  }
  return [...groups].map(([schema, tables]) => html`<div class="table-group" key=${schema}><h2><${Text} value=${schema} /></h2>${render(tables, schema)}</div>`);
}

/** The name of a table without the schema that stands above it. */
function shorten(table, schema) {
  return schema && table.startsWith(`${schema}.`) ? table.slice(schema.length + 1) : table;
}

function TableRow({ one, schema, name, isCurrent }) {
  const about = one.comment || one.gloss;
  return html`<li><a class=${`row-link ${isCurrent ? "current" : ""}`} aria-current=${isCurrent ? "page" : undefined} href=${href("schema", name, one.table)}>
    <span class="table-name" title=${plain(one.table)}><${Text} value=${shorten(one.table, schema)} /></span>
    <span class="faint table-size">${count(one.columns, "column")}</span>
    ${about && html`<span class="faint table-about"><${Text} value=${about} /></span>`}
  </a></li>`;
}
