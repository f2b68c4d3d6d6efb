/** A doubtful answer: the nearest reading with its rows, the other with a few; a button chooses one. */

import { html } from "../../vendor/preact.js";
import { ask } from "../core/conversation.js";
import { refer } from "../core/files.js";
import { buildFormat, nameColumns } from "../core/format.js";
import { Bar } from "../components/controls.js";
import { Prose, Sql, Text } from "../components/text.js";
import { askBack, describeSupport } from "../words.js";
import { NoAnswerActions } from "./answer.js";

const NEAREST_ROWS = 20;
const PREVIEW_ROWS = 3;
const PREVIEW_COLUMNS = 4;

export function Clarify({ turn }) {
  const { answer } = turn.value;
  const readings = answer.interpretations;
  const { sentence, heading } = askBack(answer);
  return html`<div class="clarify">
    <p class="sentence">${sentence}</p>
    <p><${Prose} value=${answer.reason} /></p>
    ${heading && html`<h3 class="eyebrow">${heading}</h3>`}
    <ol class="readings">
      ${readings.map((one, at) => html`<${Reading} key=${at} one=${one} at=${at} support=${describeSupport(readings, at)} Level=${heading ? "h4" : "h3"} database=${answer.database} pick=${() => ask(answer.question, one.sql)} />`)}
    </ol>
    <${NoAnswerActions} turn=${turn} sql=${readings[0]?.sql} />
  </div>`;
}

/** The part that distinguishes a reading comes first: "where … . The same in both: …". */
function splitDescription(description) {
  const at = description.indexOf(" The same in ");
  return at < 0 ? [description, ""] : [description.slice(0, at), description.slice(at + 1)];
}

function Reading({ one, at, support, Level, database, pick }) {
  const [own, common] = splitDescription(one.description);
  const query = refer({ ...one, database });
  return html`<li class="reading">
    <${Level} class="reading-head"><${Text} value=${own} /></${Level}>
    ${common && html`<p class="faint"><${Text} value=${common} /></p>`}
    <p class=${`faint ${one.share > 0 ? "share-line" : ""}`}>${one.share > 0 && html`<${Bar} share=${one.share} /> `}${support}</p>
    ${one.columns.length > 0 && html`<${Preview} one=${one} most=${at ? PREVIEW_ROWS : NEAREST_ROWS} />`}
    ${one.sql && html`<details><summary>SQL</summary><${Sql} sql=${one.sql} /></details>`}
    ${query && html`<button type="button" class="button primary" onClick=${pick}>This is what I mean</button>`}
  </li>`;
}

/** The first rows and columns of a result. */
export function Preview({ one, most }) {
  const { columns, rows, truncated } = one;
  const shown = columns.slice(0, PREVIEW_COLUMNS);
  const first = rows.slice(0, most);
  const names = nameColumns(columns);
  const formats = shown.map((column, at) => buildFormat(column, rows.map((row) => row[at])));
  if (!rows.length) return html`<p class="faint preview">It finds no rows.</p>`;
  return html`<div class="preview"><table><thead><tr>${shown.map((_, at) => html`<th scope="col" class=${formats[at].kind === "number" ? "number" : ""}><${Text} value=${names[at]} /></th>`)}</tr></thead>
    <tbody>${first.map((row) => html`<tr>${shown.map((_, at) => html`<td class=${formats[at].kind === "number" ? "number" : ""}>${row[at] === null ? "–" : html`<${Text} value=${formats[at].write(row[at])} />`}</td>`)}</tr>`)}</tbody></table>
    ${(truncated || rows.length > most || columns.length > PREVIEW_COLUMNS) && html`<p class="faint">and more${columns.length > PREVIEW_COLUMNS ? " columns" : " rows"}</p>`}</div>`;
}
