/** The state of the service for those who run it; read anew every few seconds. */

import { html, useEffect } from "../../vendor/preact.js";
import { useLoaded } from "../core/loading.js";
import { formatMs, formatNumber, formatSpan, formatTime } from "../core/format.js";
import { count } from "../core/text.js";
import { Button } from "../components/controls.js";
import { Loading } from "../components/notices.js";
import { Text } from "../components/text.js";

const EVERY_MS = 5000;

export function StatusView() {
  const loaded = useLoaded("status");
  useEffect(() => {
    const ticker = setInterval(() => document.visibilityState === "visible" && loaded.retry(), EVERY_MS);
    return () => clearInterval(ticker);
  }, []);
  if (!loaded.data) return html`<div class="page"><h1 tabindex="-1">Status</h1><${Loading} state=${loaded} retry=${loaded.retry} /></div>`;
  const { ready, parts, pace, figures, deployments, index, policy, errors, today } = loaded.data;
  const broken = Object.values(parts).filter((state) => state !== "ok").length;
  return html`<div class="page status-page">
    <div class="title-row"><h1 tabindex="-1">Status</h1><${Button} icon="again" hint="r" onClick=${loaded.retry}>Read again</${Button}></div>
    <p class=${`state-line ${ready ? "good" : "bad"}`} role="status"><strong>${ready ? "Ready" : "Not ready"}</strong> ${broken ? `${count(broken, "part")} ${broken === 1 ? "has" : "have"} a problem.` : "Every part answers."}</p>
    <dl class="tiles">
      <${Tile} name="Questions today" value=${formatNumber(today.questions)} />
      <${Tile} name="Tokens today" value=${formatNumber(today.tokens)} note="of the model, read and written" />
      <${Tile} name="Rows today" value=${formatNumber(today.rows)} />
      <${Tile} name="Waiting, running" value=${`${formatNumber(figures.waiting)}, ${formatNumber(figures.ongoing)}`} />
      <${Tile} name="Usual answer" value=${figures.duration.p50_ms === null ? "–" : formatMs(figures.duration.p50_ms)} note=${figures.duration.p95_ms === null ? "" : `95 of 100 within ${formatMs(figures.duration.p95_ms)}`} />
      <${Tile} name="The model writes" value=${pace?.answer_tokens_per_s ? `${formatNumber(Math.round(pace.answer_tokens_per_s))}/s` : "–"} note=${pace?.prompt_tokens_per_s ? `reads ${formatNumber(Math.round(pace.prompt_tokens_per_s))} tokens a second` : "tokens a second"} />
    </dl>
    <div class="status-grid">
      <${List} title="Parts" heads=${["Part", "State"]} rows=${Object.entries(parts).map(([name, state]) => [name, html`<span class=${state === "ok" ? "good" : "bad"}><${Text} value=${state} /></span>`])} />
      <${List} title="Deployments" none="In one process, without Ray." heads=${["Deployment", "Replicas", "State"]} rows=${deployments.map((one) => [one.name, formatNumber(one.replicas), html`<${Text} value=${one.state} />`])} />
      <${List} title="Index" none="Nothing is indexed." heads=${["Database", "Tables", "Built"]} rows=${index.map((one) => [one.database, formatNumber(one.tables), html`<span title=${formatTime(one.built_at)}>${formatSpan(one.age_s)} ago</span>`])} />
      <${List} title="Policy" none="No policy: everybody sees everything." heads=${["Database", "File", "Revision"]} rows=${policy.map((one) => [one.database, html`<${Text} value=${one.file || "none: everything is visible"} />`, html`<code><${Text} value=${one.revision} /></code>`])} />
      <${List} title="Without an answer" none="Every question was answered." heads=${["Outcome", "Reason", "Questions"]} rows=${errors.map((one) => [one.outcome, html`<${Text} value=${one.code} />`, formatNumber(one.count)])} />
      <${List} title="Outcomes" none="No questions yet." heads=${["Outcome", "Questions"]} rows=${Object.entries(figures.questions).map(([name, number]) => [name, formatNumber(number)])} />
    </div>
    <p class="faint">Figures of the process that answered, up for ${formatSpan(figures.uptime_s)}. Read every ${EVERY_MS / 1000} seconds.</p>
  </div>`;
}

function Tile({ name, value, note }) {
  return html`<div class="tile"><dt>${name}</dt><dd>${value}${note && html`<span class="faint">${note}</span>`}</dd></div>`;
}

function List({ title, heads, rows, none }) {
  return html`<section><h2>${title}</h2>${rows.length === 0 ? html`<p class="faint">${none}</p>` : html`<div class="scroll-x" tabindex="0" role="region" aria-label=${title}><table class="facts"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...cells]) => html`<tr><th scope="row"><${Text} value=${first} /></th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`}</section>`;
}
