/** Time and tokens of each stage. */

import { html } from "../../../vendor/preact.js";
import { formatMs, formatNumber } from "../../core/format.js";
import { Bar } from "../../components/controls.js";
import { nameStage } from "../../words/stages.js";

export function Timing({ trace, answer }) {
  if (!trace.stages.length) return html`<p>No stage ran.</p>`;
  const most = Math.max(1, ...trace.stages.map((stage) => stage.ms));
  const sum = (key) => trace.stages.reduce((total, stage) => total + stage[key], 0);
  const { pace } = trace;
  return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Time of each stage"><table class="facts timing">
    <thead><tr><th scope="col">Stage</th><th scope="col" class="number">Time</th><td class="wide"></td><th scope="col" class="number">Tokens read</th><th scope="col" class="number">Tokens written</th></tr></thead>
    <tbody>${trace.stages.map((stage) => html`<tr><th scope="row">${nameStage(stage.stage, true)}</th><td class="number">${formatMs(stage.ms)}</td><td class="wide"><${Bar} share=${stage.ms / most} /></td>
      <td class="number">${stage.prompt_tokens ? formatNumber(stage.prompt_tokens) : ""}</td><td class="number">${stage.completion_tokens ? formatNumber(stage.completion_tokens) : ""}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row">Together</th><td class="number">${formatMs(sum("ms"))}</td><td></td><td class="number">${formatNumber(sum("prompt_tokens"))}</td><td class="number">${formatNumber(sum("completion_tokens"))}</td></tr></tfoot>
  </table></div>
  ${pace.answer_tokens_per_s && html`<p class="faint">${pace.model || "The model"} reads ${formatNumber(Math.round(pace.prompt_tokens_per_s ?? 0))} and writes ${formatNumber(Math.round(pace.answer_tokens_per_s))} tokens a second here. ${pace.model_choice && `${pace.model_choice}. `}A token is a piece of a word. Asked with the same seed (${trace.seed}), the model writes the same again.</p>`}`;
}
