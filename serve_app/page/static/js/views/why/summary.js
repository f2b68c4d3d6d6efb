/** The process in a few sentences, in the order in which it happened. */

import { html } from "../../../vendor/preact.js";
import { formatMs, formatPercent } from "../../core/format.js";
import { count } from "../../core/text.js";
import { Predicates, Sql, Text } from "../../components/text.js";
import { countAttempts, describeGiven, describeOrigins, listResults } from "../../words.js";

export function Summary({ answer, trace, winner, isChosen, go }) {
  const total = trace.stages.reduce((sum, stage) => sum + stage.ms, 0);
  const named = trace.tables.slice(0, 4);
  const passed = trace.candidates.filter((one) => one.guard === "passed").length;
  const used = trace.definitions.filter((one) => one.used);
  // A query that a person chose or gave is only checked and run: nothing was written or estimated.
  const isReadingChosen = winner?.origin === "chosen";
  const isGiven = winner?.origin === "verified";
  const isCatalog = winner?.origin === "catalog";
  const isSampled = !isReadingChosen && !isGiven && !isCatalog;
  const link = (tab, text) => html`<button type="button" class="link" onClick=${() => go(tab)}>${text}</button>`;
  return html`<ol class="account">
    ${trace.rewriting && answer.rewritten && html`<li><h4>The question was completed</h4><p>From the questions before it: <${Text} value=${answer.rewritten} /></p></li>`}
    ${isReadingChosen && html`<li><h4>You chose this reading</h4><p>It is a query of the answer before.</p></li>`}
    ${isGiven && html`<li><h4>A person gave the query</h4><p><${Text} value=${describeGiven(answer)} /></p></li>`}
    ${isCatalog && html`<li><h4>The question is about the database itself</h4><p>The query was made from the tables and columns that you may see.</p></li>`}
    ${isSampled && html`<li><h4>Tables were looked for</h4><p>${link("found", count(trace.tables.length, "table"))} may matter${named.length ? html`, first of all ${named.map((one, at) => html`${at > 0 && ", "}<code><${Text} value=${one.table} /></code>`)}` : ""}.
      ${trace.values.length > 0 && html` Words of the question were found as stored values: ${trace.values.slice(0, 3).map((one, at) => html`${at > 0 && ", "}“<${Text} value=${one.phrase} />” in <code><${Text} value=${`${one.table}.${one.column}`} /></code>`)}.`}
      ${used.length > 0 && html` Agreed definitions that it uses: ${used.map((one, at) => html`${at > 0 && ", "}<strong><${Text} value=${one.name} /></strong>`)}.`}</p></li>`}
    ${isSampled && html`<li><h4>Queries were written</h4><p>${describeOrigins(trace)} ${trace.candidates.length > 0 && link("candidates", trace.candidates.length === 1 ? "See the query" : `See all ${trace.candidates.length} queries`)}</p></li>`}
    <li><h4>Each was checked before it could run</h4><p>${passed} of ${trace.candidates.length} passed the safety check, which allows reading only, and only what you may see.
      ${winner?.predicates.length > 0 ? html` Conditions were added to this one, for what you may see:` : winner ? " No condition had to be added to this one." : ""}</p>
      ${winner?.predicates.length > 0 && html`<${Predicates} predicates=${winner.predicates} />`}</li>
    <li><h4>${isSampled ? "Their results were compared" : "It was run"}</h4><p>${!isSampled ? "" : winner ? `${isChosen ? "" : "Of the query that ranks first: "}${listResults(countAttempts(trace, winner))}` : "No query gave a result."}
      ${isSampled && answer.confidence !== null && answer.confidence !== undefined ? html` About ${formatPercent(answer.confidence)} of answers like this are right${trace.threshold > 0 ? `; an answer needs ${formatPercent(trace.threshold)}` : ""}.` : ""}</p>
      ${winner && html`<${Sql} sql=${winner.sql} label=${isChosen ? "The query that was chosen" : "The query ranked first"} />`}
      ${winner?.guarded_sql && winner.guarded_sql !== winner.sql && html`<details><summary>As it ran, with what was added</summary><${Sql} sql=${winner.guarded_sql} label="The query as it ran" /></details>`}</li>
    <li><h4>It took ${formatMs(total)}</h4><p>${link("time", "See each stage")}.</p></li>
  </ol>`;
}
