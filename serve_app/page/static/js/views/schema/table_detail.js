/** One table: what it is, its columns, keys, values, and the tables that it is joined with. */

import { html, useRef, useEffect } from "../../../vendor/preact.js";
import { draft } from "../../core/conversation.js";
import { useLoaded } from "../../core/loading.js";
import { href } from "../../core/router.js";
import { count } from "../../core/text.js";
import { Button } from "../../components/controls.js";
import { Loading } from "../../components/notices.js";
import { Sql, Text } from "../../components/text.js";

export function TableDetail({ base, name, table }) {
  const loaded = useLoaded(`${base}/tables/${encodeURIComponent(table)}`);
  const heading = useRef(null);
  useEffect(() => {
    if (loaded.data) heading.current?.focus();
  }, [loaded.data]);
  if (!loaded.data) return html`<${Loading} state=${loaded} retry=${loaded.retry} />`;
  const { comment, gloss, columns, kind, keys, neighbours, neighbours_total: total } = loaded.data;
  return html`<article class="table-detail">
    <h2 tabindex="-1" ref=${heading}><${Text} value=${loaded.data.table} />${kind && kind !== "table" && html` <span class="tag"><${Text} value=${kind} /></span>`}</h2>
    ${comment && html`<p class="lead"><${Text} value=${comment} /></p>`}
    ${gloss && gloss !== comment && html`<p class="faint"><${Text} value=${gloss} /></p>`}
    <div class="actions"><${Button} icon="ask" onClick=${() => { draft.value = `How many rows of ${loaded.data.table.split(".").at(-1).replaceAll("_", " ")} are there?`; location.hash = "#/"; }}>Ask about it</${Button}></div>
    <h3 class="eyebrow">${count(columns.length, "column")}</h3>
    <div class="scroll-x" tabindex="0" role="region" aria-label="Columns"><table class="facts columns-table">
      <thead><tr><th scope="col">Column</th><th scope="col">Type</th><th scope="col">Meaning</th><th scope="col">Values</th></tr></thead>
      <tbody>${columns.map((column) => html`<${ColumnRow} key=${column.name} column=${column} name=${name} />`)}</tbody>
    </table></div>
    ${keys.length > 0 && html`<h3 class="eyebrow">Refers to</h3><ul class="plain">${keys.map((key) => html`<li><code><${Text} value=${key.columns.join(", ")} /></code> → <a href=${href("schema", name, key.table)}><${Text} value=${key.table} /></a> <code><${Text} value=${key.target_columns.join(", ")} /></code>${key.is_inferred && html` <span class="tag">inferred from names and values</span>`}</li>`)}</ul>`}
    ${neighbours.length > 0 && html`<h3 class="eyebrow">Related tables</h3><${Neighbours} neighbours=${neighbours} name=${name} />
      ${total > neighbours.length && html`<p class="faint">And ${total - neighbours.length} more.</p>`}`}
  </article>`;
}

function ColumnRow({ column, name }) {
  const { values } = column;
  return html`<tr>
    <th scope="row"><code><${Text} value=${column.name} /></code>${column.is_key && html` <span class="tag">key</span>`}${column.is_masked && html` <span class="tag warn">hidden from you</span>`}</th>
    <td class="faint"><${Text} value=${column.type} />${column.nullable && ", may be empty"}</td>
    <td>${column.comment ? html`<${Text} value=${column.comment} />` : column.gloss ? html`<${Text} value=${column.gloss} />` : html`<span class="faint">–</span>`}
      ${column.refers_to && html`<p class="faint">refers to <a href=${href("schema", name, tableOf(column.refers_to))}><${Text} value=${column.refers_to} /></a></p>`}</td>
    <td>${values.length > 0 && html`<span class="values">${values.slice(0, 8).map((value) => html`<span class="value"><${Text} value=${value} /></span>`)}${(values.length > 8 || column.values_truncated) && html`<span class="faint">…</span>`}</span>`}</td>
  </tr>`;
}

/** "sales.orders.order_id" and "sales.orders (order_id)" refer to the table sales.orders. */
function tableOf(reference) {
  const parts = reference.split("(")[0].trim().split(".");
  return reference.includes("(") || parts.length < 2 ? parts.join(".") : parts.slice(0, -1).join(".");
}

function Neighbours({ neighbours, name }) {
  return html`<ul class="neighbour-list">${neighbours.map((one) => html`<li><a href=${href("schema", name, one.table)}><${Text} value=${one.table} /></a> <span class="faint">${one.direction === "in" ? "refers to this table" : "is referred to"}</span> <${Sql} sql=${one.columns} inline=${true} /></li>`)}</ul>`;
}
