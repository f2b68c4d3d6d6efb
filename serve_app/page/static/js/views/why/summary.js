/** The process in a few sentences, in the order in which it happened. */

import { html } from "../../../vendor/preact.js";
import { formatMs, formatPercent } from "../../core/format.js";
import { count } from "../../core/text.js";
import { Predicates } from "../../components/predicates.js";
import { Sql, Text } from "../../components/text.js";

export function Summary({ answer, trace, winner, go }) {
  const total = trace.stages.reduce((sum, stage) => sum + stage.ms, 0);
  const named = trace.tables.slice(0, 4);
  const passed = trace.candidates.filter((one) => one.guard === "passed").length;
  const groups = new Set(trace.candidates.filter((one) => one.votes > 0).map((one) => one.group)).size;
  const used = trace.definitions.filter((one) => one.used);
  // A reading that was picked is only checked and run: nothing was looked for, written or estimated.
  const isPicked = winner?.origin === "picked";
  const link = (tab, text) => html`<button type="button" class="link" onClick=${() => go(tab)}>${text}</button>`;
  return html`<ol class="account">
    ${trace.rewriting && answer.rewritten && html`<li><h4>The question was completed</h4><p>From the questions before it: <${Text} value=${answer.rewritten} /></p></li>`}
    ${isPicked && html`<li><h4>You picked this reading</h4><p>It is a query of the answer before.</p></li>`}
    ${!isPicked && html`<li><h4>Tables were looked for</h4><p>${link("found", count(trace.tables.length, "table"))} may matter${named.length ? html`, first of all ${named.map((one, at) => html`${at > 0 && ", "}<code><${Text} value=${one.table} /></code>`)}` : ""}.
      ${trace.values.length > 0 && html` Words of the question were found as stored values: ${trace.values.slice(0, 3).map((one, at) => html`${at > 0 && ", "}“<${Text} value=${one.phrase} />” in <code><${Text} value=${`${one.table}.${one.column}`} /></code>`)}.`}
      ${used.length > 0 && html` It uses what was agreed on: ${used.map((one, at) => html`${at > 0 && ", "}<strong><${Text} value=${one.name} /></strong>`)}.`}</p></li>`}
    ${!isPicked && html`<li><h4>Queries were written</h4><p>The model was asked ${count(trace.samples, "time")} and gave ${link("candidates", count(trace.candidates.length, "different query", "different queries"))}${trace.repairs.length ? `; ${count(trace.repairs.length, "attempt")} to mend followed` : ""}.</p></li>`}
    <li><h4>Each was checked before it could run</h4><p>${passed} of ${trace.candidates.length} passed the guard, which allows reading only.
      ${winner?.predicates.length > 0 ? html` Your policy added to this one:` : " Your policy added no condition to this one."}</p>
      ${winner?.predicates.length > 0 && html`<${Predicates} predicates=${winner.predicates} database=${answer.database} />`}</li>
    <li><h4>${isPicked ? "It was run" : "Their results were compared"}</h4><p>${isPicked ? "" : winner ? html`${winner.votes} of ${count(trace.samples, "vote")} went to the result of the query below; ${groups > 1 ? `there were ${groups} different results` : "there was no other result"}.` : "No query gave a result."}
      ${!isPicked && answer.confidence !== null && answer.confidence !== undefined ? html` That answers like this are right is estimated at ${formatPercent(answer.confidence)}${trace.threshold > 0 ? `; below ${formatPercent(trace.threshold)} it would have been asked back` : ""}.` : ""}</p>
      ${winner && html`<${Sql} sql=${winner.sql} label="The query that was chosen" />`}
      ${winner?.guarded_sql && winner.guarded_sql !== winner.sql && html`<details><summary>As it ran, with your policy</summary><${Sql} sql=${winner.guarded_sql} label="The query as it ran" /></details>`}</li>
    <li><h4>It took ${formatMs(total)}</h4><p>${link("time", "See each stage")}.</p></li>
  </ol>`;
}
