/** The SQL of an answer: read, corrected, run through the guard, and saved as the right one. */

import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { requestJson } from "../core/api.js";
import { buildRun, copyText, FIRST_ROWS } from "../core/files.js";
import { formatMs } from "../core/format.js";
import { count } from "../core/text.js";
import { Button, showPanel } from "../components/controls.js";
import { Editor } from "../components/editor.js";
import { announce, notify, ProblemNote } from "../components/notices.js";
import { PolicyNote, Sql } from "../components/text.js";
import { isSameQuery, layOut } from "../sql/tokens.js";
import { Rows } from "../components/rows.js";
import { Saved } from "./feedback.js";

/**
 * @param {{answer: object, feedback: object, isWrong: boolean, start?: string, again?: () => void, ran?: (sql: string) => void}} props
 *   `start`: the SQL to begin with; `again` asks the question once more; `ran` is told each query that ran
 */
export function CorrectView({ answer, feedback, isWrong, start = "", again, ran }) {
  const [sql, setSql] = useState(() => layOut(start || answer.sql));
  const [state, setState] = useState({ result: null, problem: null, busy: false, sql: "", number: 0 });
  const stopper = useRef(null);
  const changed = !isSameQuery(sql, answer.sql);

  const run = async () => {
    if (!sql.trim()) return;
    stopper.current?.abort();
    stopper.current = new AbortController();
    const abort = stopper.current.signal;
    setState((before) => ({ ...before, busy: true, problem: null }));
    try {
      const result = await requestJson("run", { method: "POST", abort, body: buildRun({ ...answer, sql }, FIRST_ROWS) });
      setState(({ number }) => ({ result, problem: null, busy: false, sql, number: number + 1 }));
      ran?.(sql);
      announce(`The query ran: ${count(result.rows.length, "row")}`);
    } catch (problem) {
      if (problem.name !== "AbortError") setState(({ number }) => ({ result: null, problem, busy: false, sql, number }));
    }
  };
  const root = useRef(null);
  useLayoutEffect(() => showPanel(root.current), []);
  return html`<section class="panel" ref=${root} aria-label="The SQL of this answer">
    <header class="panel-head"><h3>${!answer.sql ? "Write the query" : isWrong ? "Correct the query" : "The query"}</h3>
      <p class="faint">Whatever you run is checked first: it can only read, and only what you may see.</p></header>
    <${Editor} given=${sql} change=${setSql} run=${run} label="SQL of this answer. Escape leaves the editor." />
    <div class="actions">
      ${state.busy
        ? html`<${Button} icon="stop" onClick=${() => { stopper.current.abort(); setState({ ...state, busy: false }); }}>Stop</${Button}>`
        : html`<${Button} kind="primary" disabled=${!sql.trim()} onClick=${run}>Run</${Button}>`}
      <${Button} icon="copy" onClick=${async () => { await copyText(sql); notify("Copied the SQL"); }}>Copy</${Button}>
    </div>
    ${state.problem && html`<${ProblemNote} problem=${state.problem} />`}
    ${state.result && html`<${Result} key=${state.number} result=${state.result} sql=${state.sql} answer=${answer} />`}
    ${changed && html`<${Changes} before=${answer.sql} canSave=${state.result && state.sql === sql} save=${() => feedback.send("wrong", sql)} feedback=${feedback} again=${again} />`}
  </section>`;
}

function Result({ result, sql, answer }) {
  const { database, question } = answer;
  return html`<div class="run-result">
    <${Rows} answer=${{ ...result, sql, question, database }} label="Rows of your query" note=${` in ${formatMs(result.ms)}`} />
    ${result.predicates?.length > 0 && html`<${PolicyNote} predicates=${result.predicates} />`}
  </div>`;
}

function Changes({ before, canSave, save, feedback, again }) {
  return html`<div class="changes">${before && html`<h4 class="eyebrow">Before your changes</h4><${Sql} sql=${before} label="Before your changes" />`}
    ${feedback.saved ? html`<${Saved} feedback=${feedback} again=${again} />` : html`<div class="actions">
      <${Button} icon="check" kind="primary" disabled=${!canSave || feedback.busy} onClick=${save}>Save as the right answer</${Button}>
      <span class="faint">${canSave ? "It is checked again; then it answers this question, and the model sees it with similar ones." : "Run it first, to see that it is right."}</span></div>`}
  </div>`;
}
