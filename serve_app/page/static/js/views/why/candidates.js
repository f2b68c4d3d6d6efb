/** The candidates side by side: votes, checks, score and repairs. */

import { html, useState } from "../../../vendor/preact.js";
import { formatMs, formatNumber, writeWords } from "../../core/format.js";
import { count } from "../../core/text.js";
import { Bar, Button } from "../../components/controls.js";
import { Predicates, Prose, Sql, Text } from "../../components/text.js";
import { nameResults, nameVerdict } from "../../words.js";

const FIRST = 6;
const ORIGINS = { sample: "written by the model", derived: "a variation, made by rule", chosen: "chosen by you", verified: "given by a person" };
function describeRepair({ method, outcome }) {
  if (outcome === "none") return "No way to repair it was found";
  const by = method === "model" ? "by the model" : "by rule";
  return outcome === "fixed" ? `Repaired ${by}` : `Repairing it ${by} failed too`;
}

const nameOrigin = (one) => (one.origin === "repair" ? (one.guard === "refused" || one.error ? "a repair that failed" : "repaired") : (ORIGINS[one.origin] ?? one.origin));
const UNRUN = { budget: "Not run: enough results were known", timeout: "Not run: it took too long", estimate: "Not run: the database estimates too much work" };

export function Candidates({ answer, trace, winner, isChosen }) {
  const [all, setAll] = useState(false);
  const letter = nameResults(trace.candidates, winner);
  const first = isChosen ? "Chosen" : "Ranked first";
  const shown = all ? trace.candidates : trace.candidates.slice(0, FIRST);
  return html`<p class="faint">Queries with the same letter gave the same result.</p>
    <ol class="candidates">${shown.map((one) => html`<li key=${one.id}><${Candidate} one=${one} database=${answer.database} winner=${winner} first=${first} trace=${trace} letter=${letter(one)} /></li>`)}</ol>
    ${shown.length < trace.candidates.length && html`<${Button} onClick=${() => setAll(true)}>Show all ${trace.candidates.length}</${Button}>`}`;
}

function Candidate({ one, database, winner, first, trace, letter }) {
  const isWinner = one === winner;
  const heading = isWinner ? `${first}: ${nameVerdict(one, letter)}` : nameVerdict(one, letter);
  const repairs = trace.repairs.filter((repair) => repair.candidate === one.id || repair.candidate === one.repairs);
  return html`<article class=${`candidate ${isWinner ? "winner" : ""}`} aria-label=${`Query ${one.id}: ${heading}`}>
    <header><span class=${`result-letter ${letter ? "" : "none"}`}>${letter || "–"}</span>
      <div><h4>${heading}</h4>
        <p class="faint">${[nameOrigin(one), one.samples > 1 ? `${one.samples} times` : "", one.rule && `rule “${writeWords(one.rule)}”`].filter(Boolean).join(" · ")}</p></div></header>
    ${trace.samples > 0 && one.rows !== null && html`<p class="votes"><${Bar} share=${one.votes / trace.samples} /> <span>${one.votes} of ${count(trace.samples, "attempt")}</span></p>`}
    <${Sql} sql=${one.sql} label=${`Query ${one.id}`} />
    <${Facts} one=${one} />
    <ul class="findings">
      ${one.violation && html`<li class="finding error">Refused: <${Prose} value=${one.violation.message} /></li>`}
      ${one.error && html`<li class="finding error">Database: <${Prose} value=${one.error.message} /></li>`}
      ${one.unrun && html`<li class="finding">${UNRUN[one.unrun] ?? `Not run: ${one.unrun}`}</li>`}
      ${one.findings.map((finding) => html`<li class=${`finding ${finding.severity}`}><${Prose} value=${finding.message} /></li>`)}
      ${repairs.map((repair) => html`<li class="finding">${describeRepair(repair)}${repair.rules.length ? html` (<${Text} value=${repair.rules.map(writeWords).join(", ")} />)` : ""}.</li>`)}
    </ul>
    ${one.predicates.length > 0 && html`<details><summary>Conditions added for what you may see (${one.predicates.length})</summary><${Predicates} predicates=${one.predicates} /></details>`}
    <${Score} score=${one.score} />
  </article>`;
}

function Facts({ one }) {
  const facts = [
    one.rows !== null && `${count(one.rows, "row")}${one.truncated ? " or more" : ""}`,
    one.ms !== null && `ran ${formatMs(one.ms)}`,
    one.explain && `the planner’s cost ${formatNumber(Math.round(one.explain.cost))}`,
    one.definitions.length > 0 && `uses ${one.definitions.join(", ")}`,
  ].filter(Boolean);
  return facts.length ? html`<p class="faint"><${Text} value=${facts.join(" · ")} /></p>` : null;
}

/** A term in words: "lint:unused_join" → "Check: unused join", "numbers_missing" → "numbers missing". */
function nameTerm(term) {
  const words = term.replaceAll("_", " ");
  if (words.startsWith("lint:")) return `Check: ${words.slice(5)}`;
  return words.startsWith("derived:") ? `Variation: ${words.slice(8)}` : words;
}

function Score({ score }) {
  const terms = Object.entries(score.terms).filter(([, points]) => points !== 0).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const most = Math.max(1, ...terms.filter(([term]) => term !== "base").map(([, points]) => Math.abs(points)));
  return html`<details><summary>Score ${formatNumber(Math.round(score.total * 10) / 10)}</summary>
    <table class="score"><caption class="off-screen">Terms of the score</caption><tbody>${terms.map(([term, points]) => html`<tr>
      <th scope="row">${nameTerm(term)}</th>
      <td class="number">${points > 0 ? "+" : ""}${formatNumber(Math.round(points * 10) / 10)}</td>
      <td class="score-bar">${term !== "base" && html`<${Bar} share=${Math.abs(points) / most} kind=${points < 0 ? "negative" : ""} />`}</td></tr>`)}</tbody></table>
    <p class="faint">How far the attempts agree counts first; the score decides between close results.</p></details>`;
}
