/** Trying a fix before it is kept: what the question gives with it, and which questions of the exam it loses. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { requestJson } from "../core/api.js";
import { buildRun, copyText, FIRST_ROWS } from "../core/files.js";
import { count } from "../core/text.js";
import { Bar, Button } from "../components/controls.js";
import { notify, ProblemNote } from "../components/notices.js";
import { Block, Prose, Sql, Text } from "../components/text.js";
import { Preview } from "./clarify.js";

// With fewer questions, "none lost" may well be chance.
const ENOUGH_QUESTIONS = 40;
const DIFFERING_ROWS = 5;

/**
 * @param {{entry: object, sql: string, keep: (sql: string) => void}} props an entry to review, its right query (or empty), and what stores the one that was tried
 */
export function TrialView({ entry, sql, keep }) {
  const [definition, setDefinition] = useState({ name: entry.name, expression: entry.expression });
  const [trial, setTrial] = useState(null);
  const stopper = useRef(null);
  useEffect(() => () => stopper.current?.abort(), []);
  const start = async (fix) => {
    stopper.current?.abort();
    stopper.current = new AbortController();
    const abort = stopper.current.signal;
    const path = `feedback/${encodeURIComponent(entry.id)}`;
    const ask = (example = "") => requestJson(`${path}/trial`, { method: "POST", abort, body: { ...fix, example } });
    const read = (query) => query && requestJson("run", { method: "POST", abort, body: buildRun({ database: entry.database, sql: query }, FIRST_ROWS) }).catch(() => null);
    const put = (values) => abort.aborted || setTrial((before) => ({ ...before, ...values }));
    setTrial({ fix, own: null, results: [], asked: [], number: 0, total: 0, busy: true, problem: null });
    try {
      const own = await ask();
      put({ own });
      if (!own.sql) return put({ busy: false });
      put({ results: await Promise.all([entry.sql, own.sql].map(read)) });
      const { questions, total } = await requestJson(`${path}/exam`, { abort });
      put({ number: questions.length, total });
      for (const { id, sql: before } of questions) {
        const one = await ask(id);
        const changed = one.verdict === "lost" ? await Promise.all([before, one.sql].map(read)) : [];
        abort.aborted || setTrial((trial) => ({ ...trial, asked: [...trial.asked, { ...one, changed }] }));
      }
    } catch (problem) {
      if (problem.name !== "AbortError") put({ problem });
    }
    put({ busy: false });
  };
  const stop = () => {
    stopper.current.abort();
    setTrial({ ...trial, busy: false });
  };
  const write = (key) => (event) => setDefinition({ ...definition, [key]: event.target.value });
  return html`<section class="trial" aria-label="Try a fix">
    <div class="actions">${sql && html`<${Button} icon="again" onClick=${() => start({ sql })}>Try the right query</${Button}>`}
      <label class="choice"><span>Define</span><input value=${definition.name} placeholder="a word of the question" onInput=${write("name")} /></label>
      <label class="choice"><span>as</span><input class="wide" spellcheck=${false} value=${definition.expression} placeholder="a condition or a figure in SQL" onInput=${write("expression")} /></label>
      <${Button} icon="again" disabled=${!definition.name || !definition.expression} onClick=${() => start(definition)}>Try the definition</${Button}></div>
    ${trial && html`<${Outcome} trial=${trial} stop=${stop} keep=${keep} />`}
  </section>`;
}

/** The rows that differ between two results, if they were read. */
function Differing({ results }) {
  return html`<div class="compare">${results.map((one, at) => one && html`<figure><figcaption class="faint">${at ? "With the fix" : "Before"}</figcaption><${Preview} one=${keepDiffering(one, results[1 - at])} most=${DIFFERING_ROWS} /></figure>`)}</div>`;
}

/** The result without the rows that the other has, too, if the two differ. */
function keepDiffering(result, other) {
  const known = new Set(other?.rows.map((row) => JSON.stringify(row)));
  const rows = result.rows.filter((row) => !known.has(JSON.stringify(row)));
  return rows.length ? { ...result, rows } : result;
}

function Outcome({ trial, stop, keep }) {
  const { fix, own, results, asked, number, total, busy, problem } = trial;
  const sum = (verdict) => asked.filter((one) => one.verdict === verdict).length;
  const shown = asked.filter((one) => one.example_shown).length;
  const lost = asked.filter((one) => one.verdict === "lost");
  const others = [[sum("wrong"), "wrong with and without it"], [sum("unknown"), "could not be judged"]].filter(([each]) => each);
  return html`${own && html`<p>This question now gives ${own.sql ? { right: "the same as the right query", wrong: "other rows than the right query" }[own.verdict] ?? "rows" : "no answer"}. <${Prose} value=${own.reason} /></p>`}
    ${own?.sql && html`<${Sql} sql=${own.sql} label="The query with the fix" />`}
    <${Differing} results=${results} />
    ${fix.name && own && !own.definition && html`<p class="finding warning">The question does not name what is defined.</p>`}
    <p role="status">${busy ? `Asking the exam: ${asked.length} of ${number || "…"}` : own?.sql && `Of ${count(asked.length, "exam question")}, ${sum("right")} ${sum("right") === 1 ? "is" : "are"} still right${others.map(([each, what]) => `, ${each} ${what}`).join("")}; ${lost.length || "none"} lost.${fix.sql ? ` ${shown} of them ${shown === 1 ? "was" : "were"} like enough to be shown it as an example.` : ""}${total < ENOUGH_QUESTIONS ? ` The exam has ${count(total, "question")}: from about ${ENOUGH_QUESTIONS} on it tells something.` : ""}`}</p>
    ${busy && html`<${Bar} share=${number ? asked.length / number : undefined} />`}
    ${lost.length > 0 && html`<ul class="findings">${lost.map((one) => html`<li class="finding error">Lost: <${Text} value=${one.question} /> <${Sql} sql=${one.sql} inline=${true} /><${Differing} results=${one.changed} /></li>`)}</ul>`}
    ${problem && html`<${ProblemNote} problem=${problem} />`}
    ${own?.definition && !busy && html`<${Block} value=${own.definition} label="The definition" /><p class="fix"><${Prose} value=${own.keep} /></p>`}
    <div class="actions">${busy ? html`<${Button} icon="stop" onClick=${stop}>Stop</${Button}>`
      : fix.sql && own?.sql ? html`<${Button} icon="check" kind="primary" onClick=${() => keep(fix.sql)}>Keep: save as the right answer</${Button}>`
        : own?.definition && html`<${Button} icon="copy" kind="primary" onClick=${() => copyText(own.definition).then(() => notify("Copied the definition"))}>Keep: copy the definition</${Button}>`}</div>`;
}
