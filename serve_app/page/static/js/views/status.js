/** The state of the service for those who run it; read anew every few seconds. */

import { html, useEffect } from "../../vendor/preact.js";
import { useAction } from "../core/keys.js";
import { useLoaded } from "../core/loading.js";
import { formatMs, formatNumber, formatSpan, formatTime } from "../core/format.js";
import { count } from "../core/text.js";
import { Button } from "../components/controls.js";
import { Loading } from "../components/notices.js";
import { Text } from "../components/text.js";
import { nameOutcome, namePart, nameProcess, nameReason, nameState } from "../words/service.js";

const EVERY_MS = 5000;

export function StatusView() {
  const loaded = useLoaded("status");
  useEffect(() => {
    const ticker = setInterval(() => document.visibilityState === "visible" && loaded.retry(), EVERY_MS);
    return () => clearInterval(ticker);
  }, []);
  useAction("again", () => void loaded.retry());
  if (!loaded.data) return html`<div class="page"><h1 tabindex="-1">Status</h1><${Loading} state=${loaded} retry=${loaded.retry} /></div>`;
  const { ready, parts, pace, figures, deployments, index, policy, errors, today } = loaded.data;
  const broken = Object.values(parts).filter((state) => state !== "ok").length;
  return html`<div class="page status-page">
    <div class="title-row"><h1 tabindex="-1">Status</h1><${Button} icon="again" hint="r" onClick=${loaded.retry}>Refresh</${Button}></div>
    <p class=${`state-line ${ready ? "good" : "bad"}`} role="status"><strong>${ready ? "Questions can be answered." : "Some questions cannot be answered now."}</strong> ${broken ? `${count(broken, "part")} of the service ${broken === 1 ? "has" : "have"} a problem.` : ready ? "Every part of the service works." : ""}</p>
    <dl class="tiles">
      <${Tile} name="Questions today" value=${formatNumber(today.questions)} note="since midnight UTC" />
      <${Tile} name="Rows today" value=${formatNumber(today.rows)} note="in the answers" />
      <${Tile} name="Being answered now" value=${formatNumber(figures.ongoing)} note=${figures.waiting ? `${formatNumber(figures.waiting)} more ${figures.waiting === 1 ? "waits" : "wait"} for a turn` : "nothing waits"} />
      <${Tile} name="Half of the answers within" value=${figures.duration.p50_ms === null ? "–" : formatMs(figures.duration.p50_ms)} note=${figures.duration.p95_ms === null ? "no answers yet" : `95 of 100 within ${formatMs(figures.duration.p95_ms)}`} />
      <${Tile} name="Work of the language model today" value=${formatNumber(today.tokens)} note="tokens: pieces of words that it read and wrote" />
      <${Tile} name="The language model writes" value=${pace?.answer_tokens_per_s ? `${formatNumber(Math.round(pace.answer_tokens_per_s))} tokens/s` : "–"} note=${pace?.prompt_tokens_per_s ? `and reads ${formatNumber(Math.round(pace.prompt_tokens_per_s))} tokens/s` : ""} />
    </dl>
    <div class="status-grid">
      <${List} title="Parts of the service" heads=${["Part", "State"]} none="Which parts there are is not shown to you." rows=${Object.entries(parts).map(([name, state]) => [namePart(name), html`<span class=${state === "ok" ? "good" : "bad"}><${Text} value=${state === "ok" ? "works" : state} /></span>`])} />
      <${List} title="Processes" none="Everything runs in one process." heads=${["Task", "Running", "State"]} rows=${deployments.map((one) => [nameProcess(one.name), formatNumber(one.replicas), html`<${Text} value=${nameState(one.state)} />`])} />
      <${List} title="Databases as last read" none="No database has been read yet, or the index cannot be reached." heads=${["Database", "Tables", "Read"]} rows=${index.map((one) => [one.database, formatNumber(one.tables), html`<span title=${formatTime(one.built_at)}>${formatSpan(one.age_s)} ago</span>`])} />
      <${List} title="Who sees what" none="Everybody sees all rows and columns." heads=${["Database", "Policy file", "Version"]} rows=${policy.map((one) => [one.database, one.file ? html`<${Text} value=${one.file} />` : "none: everybody sees everything", one.revision ? html`<code><${Text} value=${one.revision} /></code>` : html`<span class="faint">–</span>`])} />
      <${List} title="Questions" none="No questions yet." heads=${["What came of them", "Questions"]} rows=${Object.entries(figures.questions).map(([name, number]) => [nameOutcome(name), formatNumber(number)])} />
      <${List} title="Questions without an answer" none="Every question was answered." heads=${["What came of them", "Why", "Questions"]} rows=${errors.map((one) => [nameOutcome(one.outcome), html`<${Text} value=${nameReason(one.code)} />`, formatNumber(one.count)])} />
    </div>
    <p class="faint">Counted since this process of the service started, ${formatSpan(figures.uptime_s)} ago. Refreshed every ${EVERY_MS / 1000} seconds.</p>
  </div>`;
}

function Tile({ name, value, note }) {
  return html`<div class="tile"><dt>${name}</dt><dd>${value}${note && html`<span class="faint">${note}</span>`}</dd></div>`;
}

function List({ title, heads, rows, none }) {
  return html`<section><h2>${title}</h2>${rows.length === 0 ? html`<p class="faint">${none}</p>` : html`<div class="scroll-x" tabindex="0" role="region" aria-label=${title}><table class="facts"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...cells]) => html`<tr><th scope="row"><${Text} value=${first} /></th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`}</section>`;
}
