/** A shared answer: the query is run again as the reader, who sees what their own policy shows. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { load, Problem, requestJson, sleep } from "../core/api.js";
import { buildAnswer, readSureness } from "../core/conversation.js";
import { mostRows } from "../core/files.js";
import { formatTime } from "../core/format.js";
import { route } from "../core/router.js";
import { Loading } from "../components/notices.js";
import { Predicates, Text } from "../components/text.js";
import { Account, Actions, Rows } from "./answer.js";

const FIRST_ROWS = 1000;

async function openShare(id, abort) {
  const share = await load(`shares/${encodeURIComponent(id)}`, { abort });
  for (let attempt = 0; ; attempt += 1) {
    try {
      const result = await requestJson("run", { method: "POST", abort, body: { share: id, max_rows: Math.min(FIRST_ROWS, mostRows()) } });
      return { share, answer: { ...buildAnswer(share.question, share.database, result), share: id, sql: share.sql, ...readSureness(share, share.shared_at) } };
    } catch (error) {
      if (!(error instanceof Problem) || !error.isPassing || attempt > 4) throw error;
      await sleep(1000 * (error.retryAfterS ?? 2 ** attempt), abort);
    }
  }
}

export function SharedView() {
  const id = route.value.parts[0] ?? "";
  const [state, setState] = useState({ opened: null, problem: null, waiting: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stopper = new AbortController();
    setState({ opened: null, problem: null, waiting: null });
    openShare(id, stopper.signal).then(
      (opened) => setState({ opened, problem: null, waiting: null }),
      (problem) => problem.name !== "AbortError" && setState({ opened: null, problem, waiting: null }),
    );
    return () => stopper.abort();
  }, [id, turn]);
  if (!state.opened) return html`<div class="page narrow"><h1 tabindex="-1">Shared answer</h1><${Loading} state=${state} retry=${() => setTurn(turn + 1)} /></div>`;
  const { share, answer } = state.opened;
  const mine = () => true;
  return html`<div class="conversation"><article class="turn last">
    <header class="question"><p class="eyebrow">Shared by <${Text} value=${share.shared_by} /> · ${formatTime(share.shared_at)}</p>
      <h1 tabindex="-1"><${Text} value=${share.question} /></h1>
      <p class="policy-note">The query was run again for you. You see the rows that you may see; others may see other rows.</p></header>
    <div class="answer">
      <${Account} answer=${answer} mine=${mine} />
      <${Rows} answer=${answer} mine=${mine} />
      ${answer.predicates.length > 0 && html`<div class="policy-note"><p>Conditions that were added for what you may see:</p><${Predicates} predicates=${answer.predicates} /></div>`}
      <${Actions} answer=${answer} mine=${mine} />
    </div>
  </article></div>`;
}
