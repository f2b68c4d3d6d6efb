/** Answers to review, the gravest first, by their cause: look, run, correct, mark as done; and those called right: withdraw. */

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
import { Prose, Sql, Text } from "../components/text.js";
import { CorrectView } from "./correct.js";
import { Parameters, Saved, useFeedback } from "./feedback.js";
import { TrialView } from "./trial.js";

const KINDS = { wrong: "Called wrong", asked_back: "Your questions that were asked back", corrected: "Corrected, to be looked at" };
const CAUSES = { table: "a table was not found", value: "a value was not found", definition: "a definition is missing", other: "" };

const WITHDRAWN = "Withdrawn: this query answers no question any more.";

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

/** name of a list → its label, what the service lists, its heading, what is said where it is empty */
const LISTS = {
  open: ["Open", { verdict: "wrong", state: "open" }, "", "Nothing is left to do."],
  done: ["Done", { verdict: "wrong", state: "done" }, "Worked through", "Nothing was worked through yet."],
  right: ["Called right", { verdict: "right", state: "open" }, "Called right", "Nobody has called an answer right yet."],
};

export function ReviewView() {
  const [list, setList] = useState("open");
  const [, asked, heading, nothing] = LISTS[list];
  const loaded = useLoaded(`feedback${query(asked)}`);
  const entries = loaded.data?.entries ?? [];
  const act = async (id, ending, method, said, left) => {
    loaded.change({ ...loaded.data, entries: left });
    try {
      await requestJson(`feedback/${encodeURIComponent(id)}${ending}`, { method });
      notify(said);
    } catch (problem) {
      loaded.change({ ...loaded.data, entries });
      notify(`It did not work. ${plain(problem.message)}`);
    }
  };
  const without = (id) => entries.filter((one) => one.id !== id);
  const close = ({ id }) => act(id, "/done", "POST", "Marked as done", without(id));
  const withdraw = ({ id }) => act(id, "", "DELETE", WITHDRAWN, without(id));
  const withdrawSource = (id) => act(id, "", "DELETE", WITHDRAWN, entries.map((one) => (one.verified?.feedback === id ? { ...one, verified: null } : one)));
  return html`<div class="page">
    <h1 tabindex="-1">Review</h1>
    <p class="lead">What people called wrong, the gravest first. Run and correct the query, and try on the exam what a fix changes. An entry is done when you save the right query, or when you mark it.</p>
    <${Segments} label="Which entries" options=${Object.entries(LISTS).map(([key, [label]]) => [key, label])} chosen=${list} choose=${setList} />
    ${!loaded.data ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : html`<p class="faint" role="status">${count(entries.length, "entry", "entries")}${loaded.data.next ? " so far" : ""}</p>
      ${(heading ? [[heading, entries]] : groupEntries(entries)).map(([title, ones]) => html`<section key=${title}>${ones.length > 0 && html`<h2 class="eyebrow">${title} (${ones.length})</h2>`}
        <ul class="review-list">${ones.map((entry) => html`<${Entry} key=${entry.id} entry=${entry} close=${close} withdraw=${withdraw} withdrawSource=${withdrawSource} />`)}</ul></section>`)}
      ${entries.length === 0 && html`<p>${nothing}</p>`}
      <${More} loaded=${loaded} list="entries" />`}
  </div>`;
}

const NAMES = { right: ["The query", ""], asked_back: ["The first reading", "The second reading"], wrong: ["The answer’s query", ""], corrected: ["The answer’s query", "The correction"] };

function Entry({ entry: listed, close, withdraw, withdrawSource }) {
  const [open, setOpen] = useState(false);
  const [right, setRight] = useState(listed.correction);
  const answer = buildAnswer(listed.question, listed.database, { sql: listed.sql, columns: [], rows: [], truncated: false });
  const feedback = useFeedback(answer);
  // The service has marked it as done; it stays in sight, so that it can be undone.
  const entry = feedback.saved ? { ...listed, state: "done", corrected_by: me.value.name } : listed;
  const { kind, verified } = entry;
  const isAsked = kind === "asked_back";
  const isOpen = entry.state === "open" && kind !== "right" && feedback.said !== "right";
  const figure = (sql, at, choose) => sql && html`<figure><figcaption class="faint">${NAMES[kind][at]}</figcaption><${Sql} sql=${sql} label=${NAMES[kind][at]} />
    ${isAsked && isOpen && html`<div><${Button} icon="check" disabled=${feedback.busy} onClick=${choose}>This is right</${Button}></div>`}</figure>`;
  return html`<li class="review-entry">
    <h3>${kind === "right" && !verified ? html`<s><${Text} value=${entry.question} /></s>` : html`<${Text} value=${entry.question} />`}</h3>
    <p class="faint">By <${Text} value=${entry.given_by} />, <span title=${formatTime(entry.given_at)}>${formatAgo(entry.given_at)}</span> · <${Text} value=${entry.database} />${entry.reviewed_by && entry.reviewed_by !== entry.corrected_by && html` · done by <${Text} value=${entry.reviewed_by} />`}</p>
    ${entry.corrected_by && html`<p class="corrected-by"><${Icon} name="check" /><span>Corrected by <${Text} value=${entry.corrected_by} />${isOpen && html`<span class="faint">. Nobody has looked at the correction yet.</span>`}</span></p>`}
    ${kind === "right" && (!verified ? html`<p>It was called wrong since, or removed: it answers no question any more.</p>` : verified.question !== entry.question && html`<p>It answers “<${Text} value=${verified.question} />” with other values, too.</p>`)}
    ${kind !== "right" && verified && html`<p class="fix">The verified query “<${Text} value=${verified.question} />”, given by <${Text} value=${verified.given_by} />, gave this answer.
      ${verified.feedback ? html` <${Button} icon="bin" onClick=${() => withdrawSource(verified.feedback)}>Withdraw it</${Button}>` : html` It is from a file: <code>quorumsql examples remove <${Text} value=${`${entry.database} ${verified.example}`} /></code> withdraws it.`}</p>`}
    ${isOpen && entry.fix && html`<p class="fix"><${Prose} value=${entry.fix} /></p>`}
    <div class="compare">${figure(entry.sql, 0, () => feedback.send("right"))}${figure(entry.correction, 1, () => feedback.send("wrong", entry.correction))}</div>
    <div class="actions">${kind !== "right" && html`<${Button} icon="edit" aria-expanded=${open} onClick=${() => setOpen(!open)}>${entry.sql ? "Run and correct" : "Write the query"}</${Button}>`}
      ${isOpen && !isAsked && html`<${Button} icon="check" onClick=${() => close(listed)}>Mark as done</${Button}>`}
      ${(kind === "right" || (listed.state === "done" && listed.correction)) && html`<${Button} icon="bin" onClick=${() => withdraw(listed)}>Withdraw</${Button}>`}</div>
    ${isOpen && !isAsked && html`<${TrialView} entry=${listed} sql=${right} keep=${(sql) => feedback.send("wrong", sql)} />`}
    ${!open && (feedback.saved ? html`<${Saved} feedback=${feedback} />` : feedback.message && html`<p class="feedback-message" role="status">${feedback.message}</p><${Parameters} feedback=${feedback} />`)}
    ${open && html`<${CorrectView} answer=${answer} feedback=${feedback} isWrong=${true} start=${entry.correction} ran=${setRight} />`}
  </li>`;
}
