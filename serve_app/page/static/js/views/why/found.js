/** What was found for the question: tables, values, links, definitions, examples, each with its reason. */

import { html } from "../../../vendor/preact.js";
import { formatPercent } from "../../core/format.js";
import { count } from "../../core/text.js";
import { Sql, Text } from "../../components/text.js";

const VIA = {
  foreign_key: "belongs to a table that was found",
  draft: "used by a first draft",
  module: "part of the area that the question is about",
  required: "you asked for it",
  definition: "needed by a definition that the question names",
};

/** How words were found to name a column. */
const METHODS = {
  name: "its name",
  comment: "its comment",
  synonym: "a word of the same meaning",
  fuzzy: "a similar spelling",
  value: "a value that it holds",
  definition: "an agreed definition",
};

function explain(table) {
  if (VIA[table.via]) return VIA[table.via];
  const reasons = [
    table.bm25_rank !== null && `its words match (place ${table.bm25_rank})`,
    table.cosine_rank !== null && `its meaning is close (place ${table.cosine_rank})`,
  ].filter(Boolean);
  return reasons.join("; ") || "found by search";
}

/** A table of reasons, or nothing where there are no rows. */
function Reasons({ title, heads, rows, note }) {
  if (!rows.length) return null;
  return html`<section><h4 class="eyebrow">${title}</h4>${note && html`<p class="faint">${note}</p>`}
    <div class="scroll-x" tabindex="0" role="region" aria-label=${title}><table class="facts"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${rows.map((cells) => html`<tr>${cells.map((cell, at) => (at === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`))}</tr>`)}</tbody></table></div></section>`;
}

const name = (text) => html`<code><${Text} value=${text} /></code>`;

export function Found({ trace }) {
  const kept = (table) => trace.columns[table]?.length;
  return html`<div class="found">
    <${Reasons} title="Tables" heads=${["Table", "Why", "Columns shown to the model"]}
      rows=${trace.tables.map((one) => [name(one.table), explain(one), kept(one.table) ? count(kept(one.table), "column") : "all"])} />
    <${Reasons} title="Values" note="Words of the question that are stored in the data." heads=${["Words", "Value", "Where", "Match"]}
      rows=${trace.values.map((one) => [html`<${Text} value=${one.phrase} />`, html`<${Text} value=${one.value} />`, name(`${one.table}.${one.column}`), formatPercent(one.score)])} />
    <${Reasons} title="Words that name columns" heads=${["Words", "Column", "How", "Match"]}
      rows=${trace.links.map((one) => [html`<${Text} value=${one.phrase} />`, name(one.column ? `${one.table}.${one.column}` : one.table), html`<${Text} value=${METHODS[one.method] ?? one.method} />`, formatPercent(one.score)])} />
    <${Reasons} title="Definitions" heads=${["Name", "Means", "From", "Used"]}
      rows=${trace.definitions.map((one) => [html`<${Text} value=${one.name} />`, html`<${Sql} sql=${[one.expression, one.condition].filter(Boolean).join(" where ")} inline=${true} />`, html`<${Text} value=${one.source} />`, one.used ? "yes" : "no"])} />
    <${Reasons} title="Similar questions with known answers" heads=${["Question", "Query", "Similarity"]}
      rows=${trace.examples.map((one) => [html`<${Text} value=${one.question} />`, html`<${Sql} sql=${one.sql} inline=${true} />`, formatPercent(one.similarity)])} />
    ${trace.left_out.length > 0 && html`<p class="faint">Left out, as there was no room: <${Text} value=${trace.left_out.join(", ")} /></p>`}
  </div>`;
}
