/** The readings of a question as cards, with a few rows of each; a click picks one. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { ask, running } from "../core/conversation.js";
import { requestJson } from "../core/api.js";
import { refer } from "../core/files.js";
import { formatPercent } from "../core/format.js";
import { useAction } from "../core/keys.js";
import { rights } from "../core/state.js";
import { Bar } from "../components/controls.js";
import { buildFormat } from "../core/format.js";
import { Prose, Sql, Text } from "../components/text.js";
import { Why } from "./why_button.js";

const PREVIEW_ROWS = 3;
const PREVIEW_COLUMNS = 4;

export function Clarify({ answer, mine }) {
  const { interpretations } = answer;
  const name = (at) => interpretations[at]?.sql || interpretations[at]?.reference;
  const pick = (at) => name(at) && !running.value && ask(answer.question, name(at));
  useAction("pick", (event) => (mine() && interpretations[Number(event.key) - 1] ? pick(Number(event.key) - 1) : false));
  return html`<div class="clarify">
    <p class="sentence">Which of these do you mean?</p>
    <p><${Prose} value=${answer.reason} /></p>
    <ol class="readings">
      ${interpretations.map((one, at) => html`<${Reading} key=${at} one=${one} at=${at} database=${answer.database} pick=${() => pick(at)} />`)}
    </ol>
    <${Why} answer=${answer} mine=${mine} />
  </div>`;
}

/** The part that distinguishes a reading comes first: "where … . The same in both: …". */
function splitDescription(description) {
  const at = description.indexOf(" The same in ");
  return at < 0 ? [description, ""] : [description.slice(0, at), description.slice(at + 1)];
}

function Reading({ one, at, database, pick }) {
  const [own, common] = splitDescription(one.description);
  const query = refer({ ...one, database });
  return html`<li class="reading">
    <div class="reading-head"><kbd>${at + 1}</kbd><h3><${Text} value=${own} /></h3></div>
    ${common && html`<p class="faint"><${Text} value=${common} /></p>`}
    <p class="faint share-line"><${Bar} share=${one.share} /> ${formatPercent(one.share)} of the attempts</p>
    ${query && html`<${Preview} query=${query} />`}
    ${rights.value.process && one.sql && html`<details><summary>SQL</summary><${Sql} sql=${one.sql} /></details>`}
    ${query && html`<button type="button" class="button primary" onClick=${pick}>This is what I mean</button>`}
  </li>`;
}

function Preview({ query }) {
  const [state, setState] = useState(null);
  useEffect(() => {
    const stopper = new AbortController();
    requestJson("run", { method: "POST", body: { ...query, max_rows: PREVIEW_ROWS }, abort: stopper.signal }).then(
      (result) => setState({ result }),
      (problem) => problem.name !== "AbortError" && setState({ problem }),
    );
    return () => stopper.abort();
  }, [JSON.stringify(query)]);
  if (!state) return html`<p class="faint preview" role="status">Reading a few rows …</p>`;
  if (state.problem) return html`<p class="faint preview">No preview: <${Prose} value=${state.problem.message} /></p>`;
  const { columns, rows, truncated } = state.result;
  const shown = columns.slice(0, PREVIEW_COLUMNS);
  const formats = shown.map((column, at) => buildFormat(column, rows.map((row) => row[at])));
  if (!rows.length) return html`<p class="faint preview">This reading finds no rows.</p>`;
  return html`<div class="preview"><table><thead><tr>${shown.map((column) => html`<th scope="col"><${Text} value=${column.name} /></th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${shown.map((_, at) => html`<td class=${formats[at].kind === "number" ? "number" : ""}>${row[at] === null ? "–" : html`<${Text} value=${formats[at].write(row[at])} />`}</td>`)}</tr>`)}</tbody></table>
    ${(truncated || columns.length > PREVIEW_COLUMNS) && html`<p class="faint">and more${columns.length > PREVIEW_COLUMNS ? " columns" : " rows"}</p>`}</div>`;
}
