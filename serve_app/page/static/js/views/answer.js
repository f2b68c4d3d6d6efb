/** An answer: the sentence, how sure it is, the rows as table or chart, and what can be done next. */

import { html, useId, useState } from "../../vendor/preact.js";
import { requestJson } from "../core/api.js";
import { askCorrected } from "../core/conversation.js";
import { buildRun, mostRows, refer } from "../core/files.js";
import { useAction } from "../core/keys.js";
import { count, plain } from "../core/text.js";
import { ChartView, useChart } from "../components/chart.js";
import { Confidence } from "../components/confidence.js";
import { Button } from "../components/controls.js";
import { notify } from "../components/notices.js";
import { describeRows, ResultTable, useTable } from "../components/table.js";
import { TableTools } from "../components/table_tools.js";
import { Text } from "../components/text.js";
import { writeReading, writeSentence } from "../words/sentence.js";
import { useFeedback } from "./feedback.js";
import { Lazy } from "./lazy.js";
import { ShareDialog } from "./share_dialog.js";
import { WhyPanel } from "./why_button.js";

const loadCorrect = () => import("./correct.js");

/** @param {{turn: object, mine: () => boolean}} props */
export function Answer({ turn, mine }) {
  const { answer, picked } = turn.value;
  return html`<div class="answer">
    <${Account} answer=${answer} isPicked=${Boolean(picked)} mine=${mine} />
    <${Rows} answer=${answer} mine=${mine} />
    <${Actions} answer=${answer} mine=${mine} again=${() => askCorrected(turn)} />
  </div>`;
}

/** The answer in words: what it is, what was asked of the data, how sure that is. */
export function Account({ answer, isPicked = false, mine }) {
  return html`<p class="sentence"><${Text} value=${writeSentence(answer)} /></p>
    ${answer.description && html`<p class="reading-of"><${Text} value=${writeReading(answer.description)} /></p>`}
    <${Confidence} answer=${answer} isPicked=${isPicked} mine=${mine} />`;
}

/**
 * Rows as table or chart, with what can be done with them.
 * @param {{answer: object, mine: () => boolean, label?: string, note?: string}} props `mine`: whether the keys act on
 *   these rows; `note` follows their number
 */
export function Rows({ answer, mine, label = "Rows of the answer", note = "" }) {
  const [more, setMore] = useState(null);
  const shown = more ?? answer;
  const table = useTable(shown.columns, shown.rows);
  const { roles, suggested } = useChart(shown.columns, shown.rows);
  const [view, setView] = useState("table");
  const [busy, setBusy] = useState(false);
  const id = useId();
  useAction("table", () => (mine() ? setView("table") : false));
  useAction("chart", () => (mine() && suggested ? setView("chart") : false));
  const loadMore = async () => {
    setBusy(true);
    try {
      const result = await requestJson("run", { method: "POST", body: buildRun(answer) });
      setMore({ ...answer, ...result, sql: answer.sql });
    } catch (problem) {
      notify(plain(problem.message));
    }
    setBusy(false);
  };
  if (shown.rows.length === 0 && shown.columns.length === 0) return null;
  return html`<section class="rows" aria-label=${label}>
    <div class="rows-head">
      ${suggested && html`<div class="segments" role="group" aria-label="Show the rows as">
        <button type="button" aria-pressed=${view === "table"} title="(t)" onClick=${() => setView("table")}>Table</button>
        <button type="button" aria-pressed=${view === "chart"} title="(v)" onClick=${() => setView("chart")}>Chart</button>
      </div>`}
      <p class="faint" id=${id} role="status">${describeRows(table, shown.truncated)}${note}${shown.truncated && buildRun(answer) && shown.rows.length < mostRows() && html` <button type="button" class="link" disabled=${busy} onClick=${loadMore}>${busy ? "Reading …" : `Read up to ${count(mostRows(), "row")}`}</button>`}</p>
      ${view === "table" && html`<${TableTools} table=${table} answer=${shown} mine=${mine} />`}
    </div>
    ${view === "table"
      ? html`<${ResultTable} table=${table} cut=${shown.cut ?? []} label=${label} />`
      : html`<${ChartView} question=${answer.question} columns=${shown.columns} rows=${shown.rows} roles=${roles} suggested=${suggested} mine=${mine} />`}
  </section>`;
}

/**
 * What can be done with an answer: why, SQL, share, right or wrong.
 * @param {{answer: object, mine: () => boolean, startOpen?: string, again?: () => void}} props `again` asks once more,
 *   after a correction
 */
export function Actions({ answer, mine, startOpen = "", again }) {
  const [panel, setPanel] = useState(startOpen);
  const [sharing, setSharing] = useState(false);
  const feedback = useFeedback(answer);
  const toggle = (name) => setPanel(panel === name ? "" : name);
  const sayWrong = async () => {
    if (await feedback.send("wrong")) setPanel("correct");
  };
  const can = { why: answer.trace, edit: answer.sql, feedback: Boolean(refer(answer)) };
  useAction("why", () => (can.why && mine() ? toggle("why") : false));
  useAction("edit", () => (can.edit && mine() ? toggle("correct") : false));
  useAction("share", () => (can.feedback && mine() ? setSharing(true) : false));
  useAction("right", () => (can.feedback && mine() ? void feedback.send("right") : false));
  useAction("wrong", () => (can.feedback && mine() ? void sayWrong() : false));
  return html`<footer class="answer-foot">
    <div class="actions">
      ${can.why && html`<${Button} icon="why" hint="w" aria-expanded=${panel === "why"} onClick=${() => toggle("why")}>Why this answer</${Button}>`}
      ${can.edit && html`<${Button} icon="edit" hint="e" aria-expanded=${panel === "correct"} onClick=${() => toggle("correct")}>SQL</${Button}>`}
      ${can.feedback && html`<${Button} icon="share" hint="s" onClick=${() => setSharing(true)}>Share</${Button}>`}
      ${can.feedback && html`<span class="verdict" role="group" aria-label="Is this answer right?">
        <span class="faint verdict-label">${feedback.said ? "Thank you" : "Is this right?"}</span>
        <${Button} icon="up" label="The answer is right" hint="y" kind="quiet" aria-pressed=${feedback.said === "right"} disabled=${feedback.busy} onClick=${() => feedback.send("right")} />
        <${Button} icon="down" label="The answer is wrong" hint="x" kind="quiet" aria-pressed=${feedback.said === "wrong"} disabled=${feedback.busy} onClick=${sayWrong} />
      </span>`}
    </div>
    ${feedback.message && html`<p class="feedback-message" role="status">${feedback.message}</p>`}
    ${panel === "why" && html`<${WhyPanel} answer=${answer} />`}
    ${panel === "correct" && html`<${Lazy} load=${loadCorrect} name="CorrectView" props=${{ answer, feedback, mine, again, isWrong: feedback.said === "wrong" }} />`}
    ${sharing && html`<${ShareDialog} answer=${answer} close=${() => setSharing(false)} />`}
  </footer>`;
}
