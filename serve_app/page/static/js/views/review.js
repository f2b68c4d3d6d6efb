/** Answers to review, the gravest first, by their cause: look, run, correct, mark as done. */

import { html, useState } from "../../vendor/preact.js";
import { query, requestJson } from "../core/api.js";
import { buildAnswer } from "../core/conversation.js";
import { formatAgo, formatTime } from "../core/format.js";
import { useLoaded } from "../core/loading.js";
import { me } from "../core/state.js";
import { count, plain } from "../core/text.js";
import { Button, Segments } from "../components/controls.js";
import { Icon } from "../components/icons.js";
import { Loading, More, notify } from "../components/notices.js";
import { Sql, Text } from "../components/text.js";
import { CorrectView } from "./correct.js";
import { Saved, useFeedback } from "./feedback.js";
import { TrialView } from "./trial.js";

const KINDS = { wrong: "Called wrong", asked_back: "Your questions that were asked back", corrected: "Corrected, to be looked at" };
const CAUSES = { table: "a table was not found", value: "a value was not found", definition: "a definition is missing", other: "" };

/** The entries by kind and cause: kinds in their order, then the commonest cause first. */
function groupEntries(entries) {
  const groups = new Map();
  for (const entry of entries) {
    const title = [KINDS[entry.kind], CAUSES[entry.cause]].filter(Boolean).join(": ");
    groups.set(title, [...(groups.get(title) ?? []), entry]);
  }
  const place = ([, [first]]) => Object.keys(KINDS).indexOf(first.kind);
  return [...groups].sort((one, other) => place(one) - place(other) || other[1].length - one[1].length);
}

export function ReviewView() {
  const [state, setState] = useState("open");
  const loaded = useLoaded(`feedback${query({ verdict: "wrong", state })}`);
  const entries = loaded.data?.entries ?? [];
  const close = async (entry) => {
    loaded.change({ ...loaded.data, entries: entries.filter((one) => one.id !== entry.id) });
    try {
      await requestJson(`feedback/${encodeURIComponent(entry.id)}/done`, { method: "POST" });
      notify("Marked as done");
    } catch (problem) {
      loaded.change({ ...loaded.data, entries });
      notify(`Not marked. ${plain(problem.message)}`);
    }
  };
  return html`<div class="page">
    <h1 tabindex="-1">Wrong answers</h1>
    <p class="lead">What people called wrong, the gravest first. Run and correct the query, and try on the exam what a fix changes. An entry is done when you save the right query, or when you mark it.</p>
    <${Segments} label="Which entries" options=${[["open", "Open"], ["done", "Done"]]} chosen=${state} choose=${setState} />
    ${!loaded.data ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : html`<p class="faint" role="status">${count(entries.length, "entry", "entries")}${loaded.data.next ? " so far" : ""}</p>
      ${(state === "open" ? groupEntries(entries) : [["Worked through", entries]]).map(([title, ones]) => html`<section key=${title}>${ones.length > 0 && html`<h2 class="eyebrow">${title} (${ones.length})</h2>`}
        <ul class="review-list">${ones.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} close=${() => close(entry)} />`)}</ul></section>`)}
      ${entries.length === 0 && html`<p>${state === "open" ? "Nothing is left to do." : "Nothing was worked through yet."}</p>`}
      <${More} loaded=${loaded} list="entries" />`}
  </div>`;
}

function Entry({ entry: listed, close }) {
  const [open, setOpen] = useState(false);
  const [right, setRight] = useState(listed.correction);
  const answer = buildAnswer(listed.question, listed.database, { sql: listed.sql, columns: [], rows: [], truncated: false });
  const feedback = useFeedback(answer);
  // The service has marked it as done; it stays in sight, so that it can be undone.
  const entry = feedback.saved ? { ...listed, state: "done", corrected_by: me.value.name } : listed;
  const isAsked = entry.kind === "asked_back";
  const second = entry.correction ? (isAsked ? "The other reading" : "The correction") : isAsked ? "There was no other reading" : "No correction came with it";
  return html`<li class="review-entry">
    <h3><${Text} value=${entry.question} /></h3>
    <p class="faint">By <${Text} value=${entry.given_by} />, <span title=${formatTime(entry.given_at)}>${formatAgo(entry.given_at)}</span> · <${Text} value=${entry.database} />${entry.reviewed_by && entry.reviewed_by !== entry.corrected_by && html` · done by <${Text} value=${entry.reviewed_by} />`}</p>
    ${entry.corrected_by && html`<p class="corrected-by"><${Icon} name="check" /><span>Corrected by <${Text} value=${entry.corrected_by} />${entry.state === "open" && html`<span class="faint">. Nobody has looked at the correction yet.</span>`}</span></p>`}
    ${entry.state === "open" && entry.fix && html`<p class="fix"><${Text} value=${entry.fix} /></p>`}
    <div class="compare"><figure><figcaption class="faint">The answer’s query</figcaption><${Sql} sql=${entry.sql} label="The answer’s query" /></figure>
      <figure><figcaption class="faint">${second}</figcaption>${entry.correction && html`<${Sql} sql=${entry.correction} label=${second} />`}</figure></div>
    <div class="actions"><${Button} icon="edit" aria-expanded=${open} onClick=${() => setOpen(!open)}>Run and correct</${Button}>
      ${entry.state === "open" && !isAsked && html`<${Button} icon="check" onClick=${close}>Mark as done</${Button}>`}</div>
    ${entry.state === "open" && !isAsked && html`<${TrialView} entry=${listed} sql=${right} keep=${(sql) => feedback.send("wrong", sql)} />`}
    ${feedback.saved && !open && html`<${Saved} feedback=${feedback} />`}
    ${open && html`<${CorrectView} answer=${answer} feedback=${feedback} isWrong=${true} start=${entry.correction} ran=${setRight} />`}
  </li>`;
}
