/** Why an answer was given: the process in parts, the short account first. */

import { html, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { formatMs, formatNumber } from "../../core/format.js";
import { Bar, Segments, showPanel } from "../../components/controls.js";
import { Block, Sql, Text } from "../../components/text.js";
import { nameStage } from "../../words.js";
import { Candidates } from "./candidates.js";
import { Found } from "./found.js";
import { Summary } from "./summary.js";

/** @param {{answer: object}} props an answer with its trace */
export function WhyView({ answer }) {
  const { trace } = answer;
  const [chosen, setChosen] = useState("summary");
  // Where nothing is answered, the first in rank is spoken of, if it has a result.
  const winner = trace.candidates.find((one) => one.sql === answer.sql) ?? trace.candidates.find((one) => one.rows !== null);
  const isChosen = answer.outcome === "answered";
  const views = {
    summary: ["In short", Summary],
    candidates: ["Queries tried", Candidates, trace.candidates.length],
    found: ["Data found", Found, trace.tables.length],
    joins: ["Joins", Joins],
    prompt: ["Told to the model", PromptView],
    time: ["Time", Timing],
  };
  const parts = Object.entries(views).map(([key, [label, , count]]) => [key, count === undefined ? label : `${label} (${count})`]);
  const View = views[chosen][1];
  const root = useRef(null);
  useLayoutEffect(() => {
    root.current.querySelector("button").focus({ preventScroll: true });
    showPanel(root.current);
  }, []);
  return html`<section class="panel why" ref=${root} aria-label="Why this answer">
    <${Segments} label="Parts of the process" options=${parts} chosen=${chosen} choose=${setChosen} />
    <div class="part"><${View} answer=${answer} trace=${trace} winner=${winner} isChosen=${isChosen} go=${setChosen} /></div>
  </section>`;
}

/** The planned path of joins. */
function Joins({ trace }) {
  if (!trace.join_skeleton) return html`<p>No join was planned for this question.</p>`;
  return html`<div class="joins"><${Sql} sql=${trace.join_skeleton} label="Tables and how they are joined" />
    ${trace.inferred_joins.length > 0 && html`<p>Inferred from names and values, as the database declares no key: <${Text} value=${trace.inferred_joins.join("; ")} /></p>`}
  </div>`;
}

const ROLES = { system: "Instructions", user: "Question and data", assistant: "Model" };

/** What the model was told. */
function PromptView({ trace }) {
  const prompts = Object.entries(trace.prompts);
  if (!prompts.length) return html`<p>The model was not asked.</p>`;
  return html`<p class="faint">Exactly what the model was told. It sees no rows of your data but the values listed under “Data found”.</p>
    ${prompts.map(([variant, messages]) => html`<section>${prompts.length > 1 && html`<h4 class="eyebrow">Wording “<${Text} value=${variant} />”</h4>`}
      ${messages.map((message) => html`<h5>${ROLES[message.role] ?? message.role}</h5><${Block} value=${message.content} label=${ROLES[message.role] ?? message.role} />`)}</section>`)}
    ${trace.draft_query && html`<h4 class="eyebrow">First draft</h4><${Sql} sql=${trace.draft_query} label="First draft" />`}`;
}

/** Time and tokens of each stage. */
function Timing({ trace, answer }) {
  if (!trace.stages.length) return html`<p>No stage ran.</p>`;
  const most = Math.max(1, ...trace.stages.map((stage) => stage.ms));
  const sum = (key) => trace.stages.reduce((total, stage) => total + stage[key], 0);
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Time of each stage"><table class="facts timing">
    <thead><tr><th scope="col">Stage</th><th scope="col" class="number">Time</th><td class="wide"></td><th scope="col" class="number">Tokens read</th><th scope="col" class="number">Tokens written</th></tr></thead>
    <tbody>${trace.stages.map((stage) => html`<tr><th scope="row">${nameStage(stage.stage, true)}</th><td class="number">${formatMs(stage.ms)}</td><td class="wide"><${Bar} share=${stage.ms / most} /></td>
      <td class="number">${stage.prompt_tokens ? formatNumber(stage.prompt_tokens) : ""}</td><td class="number">${stage.completion_tokens ? formatNumber(stage.completion_tokens) : ""}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row">Together</th><td class="number">${formatMs(sum("ms"))}</td><td></td><td class="number">${formatNumber(sum("prompt_tokens"))}</td><td class="number">${formatNumber(sum("completion_tokens"))}</td></tr></tfoot>
  </table></div>`;
}
