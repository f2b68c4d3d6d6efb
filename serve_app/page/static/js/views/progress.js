/** The stages of a question as they run, with time; rows as soon as they are there. The ask field has what stops it. */

import { html } from "../../vendor/preact.js";
import { formatElapsed, formatMs, formatPercent } from "../core/format.js";
import { count } from "../core/text.js";
import { Bar } from "../components/controls.js";
import { countDown, useClock } from "../components/notices.js";
import { ResultTable, useTable } from "../components/table.js";
import { Prose, Sql } from "../components/text.js";
import { nameStage } from "../words.js";

const LONG_MS = 15_000;

export function Progress({ turn }) {
  const value = turn.value;
  const now = useClock();
  const seconds = formatElapsed(now - value.startedAt);
  const isLong = now - value.startedAt > LONG_MS;
  return html`<div class="progress">
    <div class="progress-head"><span class="pulse" aria-hidden="true"></span><span role="timer" aria-live="off">${seconds}</span></div>
    ${value.note && html`<p class="progress-note" role="status"><${Prose} value=${value.note} />${value.retryAt > 0 && ` It is sent again in ${count(countDown(value.retryAt, now), "second")}.`}</p>`}
    <ol class="stages" aria-label="What has been done">
      ${value.stages.map((stage, at) => html`<${Stage} key=${at} stage=${stage} now=${now} />`)}
      ${value.stages.length === 0 && value.state === "running" && html`<li class="running"><span class="stage-name">Sending the question</span><${Bar} /></li>`}
    </ol>
    <p class="off-screen" role="status">${value.stages.length ? nameStage(value.stages.at(-1).stage, false) : ""}</p>
    ${isLong && value.state === "running" && html`<p class="faint" role="status">This takes a while. You can look at other parts of the page; the answer will be here.</p>`}
    <${Candidates} value=${value} />
    ${value.early && html`<${Early} early=${value.early} />`}
  </div>`;
}

/** How much of a stage is done; undefined while nobody knows. Reading the prompt counts until the first piece is done. */
function measureShare({ done, total, prompt_tokens: prompt, prompt_tokens_read: read }) {
  if (done > 0 && total > 0) return done / total;
  return prompt > 0 && read > 0 && read < prompt ? read / prompt : undefined;
}

function Stage({ stage, now }) {
  const isDone = stage.endedAt > 0;
  const { done, total, answer_tokens: tokens, prompt_tokens: prompt, prompt_tokens_read: read } = stage.event;
  const detail = total > 0 ? `${done} of ${total}` : "";
  const words = !isDone && prompt > 0 && read < prompt ? `reading what is known of the data, ${formatPercent(read / prompt)}` : tokens > 0 ? `${count(tokens, "token")} written` : "";
  return html`<li class=${isDone ? "done" : "running"}>
    <span class="stage-name">${nameStage(stage.stage, isDone)}</span>
    <span class="stage-detail faint">${[detail, words].filter(Boolean).join(" · ")}</span>
    <span class="stage-time faint">${isDone ? formatMs(stage.endedAt - stage.startedAt) : formatElapsed(now - stage.startedAt)}</span>
    ${!isDone && html`<${Bar} share=${measureShare(stage.event)} />`}
  </li>`;
}

function Candidates({ value }) {
  const { candidates, vote } = value;
  if (!candidates.length) return null;
  const accepted = candidates.filter((one) => one.status === "accepted").length;
  return html`<div class="live" aria-live="off">
    <p class="faint">${count(candidates.length, "different query", "different queries")} so far, ${accepted} usable${vote ? `. ${vote.votes} of ${count(vote.samples, "attempt")} came to the leading result` : ""}.</p>
    ${vote?.leader && html`<${Sql} sql=${vote.leader} label="The leading query" />`}
  </div>`;
}

function Early({ early }) {
  const table = useTable(early.columns, early.rows);
  return html`<${ResultTable} table=${table} label="The rows, before the answer is put into words" />`;
}
