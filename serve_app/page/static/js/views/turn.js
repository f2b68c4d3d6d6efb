/** One question of a conversation and what came of it. */

import { html, useEffect, useRef } from "../../vendor/preact.js";
import { askAgain, showRows } from "../core/conversation.js";
import { refer } from "../core/files.js";
import { formatAgo, formatMs } from "../core/format.js";
import { Button } from "../components/controls.js";
import { announce, ProblemNote } from "../components/notices.js";
import { Sql, Text } from "../components/text.js";
import { Answer, NoAnswerActions } from "./answer.js";
import { Clarify } from "./clarify.js";
import { Failed, Refused } from "./no_answer.js";
import { Progress } from "./progress.js";

/** @param {{turn: import("../../vendor/preact.js").Signal<object>, isLast: boolean}} props */
export function Turn({ turn, isLast }) {
  const value = turn.value;
  const again = () => askAgain(turn);
  useEffect(() => {
    const { answer } = value;
    if (!answer) return;
    announce(answer.outcome === "answered" ? `Answer: ${answer.text || "rows are shown"}` : answer.reason || "There is no answer.");
  }, [value.answer]);
  return html`<article class=${`turn ${isLast ? "last" : ""}`} aria-labelledby=${`q${value.key}`}>
    <header class="question">
      <h2 id=${`q${value.key}`}><${Text} value=${value.question} /></h2>
      <${Meta} value=${value} />
    </header>
    <${Outcome} turn=${turn} again=${again} />
  </article>`;
}

function Meta({ value }) {
  const rewritten = value.answer?.rewritten ?? value.kept?.rewritten;
  const notes = value.answer?.notes ?? [];
  if (!rewritten && !notes.length && value.state !== "kept") return null;
  return html`<div class="question-meta faint">
    ${value.state === "kept" && html`<p>Asked ${formatAgo(value.kept.asked_at)}</p>`}
    ${rewritten && rewritten !== value.question && html`<p>Understood as: <${Text} value=${rewritten} /></p>`}
    ${notes.map((note) => html`<p><${Text} value=${note} /></p>`)}
  </div>`;
}

function Outcome({ turn, again }) {
  const value = turn.value;
  if (value.problem) return html`<${ProblemNote} problem=${value.problem} retry=${value.kept ? () => showRows(turn) : again} retryLabel=${value.kept ? "Try again" : "Ask again"} />
    ${!value.kept && value.problem.status >= 500 && !value.problem.isPassing && html`<div key=${value.startedAt} class="no-answer"><${NoAnswerActions} turn=${turn} /></div>`}`;
  if (value.state === "running" || value.state === "waiting") return html`<${Progress} turn=${turn} />`;
  if (value.state === "stopped") {
    return html`<div class="stopped"><p>Stopped after ${formatMs(value.endedAt - value.startedAt)}. Nothing was kept.</p><${Button} icon="again" onClick=${again}>Ask again</${Button}></div>`;
  }
  if (value.state === "kept") return html`<${Kept} turn=${turn} again=${again} />`;
  const key = value.startedAt;
  switch (value.answer.outcome) {
    case "answered": return html`<${Answer} key=${key} turn=${turn} />`;
    case "clarify": return html`<${Clarify} key=${key} turn=${turn} />`;
    case "refused": return html`<${Refused} key=${key} turn=${turn} />`;
    default: return html`<${Failed} key=${key} turn=${turn} again=${again} />`;
  }
}

const OUTCOMES = { clarify: "It was asked back what was meant.", refused: "It was not answered, on purpose.", failed: "No query worked." };

/** Reads the rows of a turn when it comes into sight; where that fails, the reader decides. */
function readInSight(turn, element) {
  if (!element || !refer(turn.value.kept) || turn.value.note) return undefined;
  const watcher = new IntersectionObserver(([entry]) => {
    if (!entry.isIntersecting) return;
    watcher.disconnect();
    showRows(turn);
  });
  watcher.observe(element);
  return () => watcher.disconnect();
}

/** A turn of the history: its rows are not stored, so they are read again, as the reader. */
function Kept({ turn, again }) {
  const { kept, note } = turn.value;
  const element = useRef(null);
  useEffect(() => readInSight(turn, element.current), [turn]);
  if (kept.outcome !== "answered") return html`<div class="stopped"><p>${OUTCOMES[kept.outcome] ?? "There was no answer."}</p><${Button} icon="again" onClick=${again}>Ask again</${Button}></div>`;
  return html`<div class="stopped" ref=${element}>
    ${kept.sql && html`<${Sql} sql=${kept.sql} />`}
    ${kept.is_withheld && html`<p>The query of then is not shown: you may not run it any more.</p>`}
    ${note ? html`<p role="status" class="faint">${note}</p>` : html`<p class="faint">Rows are not stored. They are read again, with what you may see now.</p>
      <div class="actions">${refer(kept) && html`<${Button} icon="table" kind="primary" onClick=${() => showRows(turn)}>Show the rows</${Button}>`}<${Button} icon="again" onClick=${again}>Ask again</${Button}></div>`}
  </div>`;
}
