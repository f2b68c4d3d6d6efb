/** Saying whether an answer is right: thumbs and corrections, what the service did with them, undo. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { requestJson } from "../core/api.js";
import { rights } from "../core/state.js";
import { plain } from "../core/text.js";
import { Button } from "../components/controls.js";
import { notify } from "../components/notices.js";
import { Sql, Text } from "../components/text.js";

const DONE = {
  stored: "Stored: this query answers this question from now on, and the model sees it with similar ones.",
  known: "This query already answers this question. Thank you.",
  removed: "Recorded. The example that led to this was removed.",
  recorded: "Recorded: reviewers are shown it, with your question. If you know the right query, write it and save it.",
  given: "Recorded as wrong. A verified query gave this answer: reviewers are shown which, and can withdraw it.",
};

const NOTHING = { said: "", busy: false, message: "", saved: "", offer: null, correction: null };

/**
 * @param {{question: string, sql: string, database: string, rewritten?: string}} answer
 * @returns {{said: string, busy: boolean, message: string, saved: string, offer: object | null, send: (verdict: string, correction?: string, parameters?: string[]) => Promise<boolean>, undo: () => Promise<void>}}
 *   `saved`: the id of the correction that was saved, empty if none was; `undo` takes it back; `offer`: values of the right query that a reviewer can let vary, and those that cannot
 */
export function useFeedback(answer) {
  const [state, setState] = useState({ ...NOTHING, saidBefore: "" });
  const send = async (verdict, correction = null, parameters = null) => {
    setState((before) => ({ ...before, busy: true, message: "" }));
    try {
      const { sql, database } = answer;
      const body = { question: answer.rewritten || answer.question, verdict, correction, parameters, sql, database };
      const { outcome, id, ...offer } = await requestJson("feedback", { method: "POST", body });
      const isExamined = rights.value.review && (outcome === "stored" || outcome === "known");
      const message = parameters?.length ? `Stored: questions with other values for ${parameters.join(", ")} are answered so, too.` : `${DONE[outcome === "recorded" && answer.verified ? "given" : outcome] || "Recorded. Thank you."}${isExamined ? " It is in the next export to the exam." : ""}`;
      setState((before) => ({ said: verdict, busy: false, message, saved: correction ? id : "", saidBefore: before.said, offer: parameters?.length ? null : offer, correction }));
      return true;
    } catch (problem) {
      setState((before) => ({ ...before, busy: false, message: `Not recorded. ${plain(problem.message)}` }));
      return false;
    }
  };
  const undo = async () => {
    setState((before) => ({ ...before, busy: true }));
    try {
      await requestJson(`feedback/${encodeURIComponent(state.saved)}`, { method: "DELETE" });
      notify("Taken back. Your correction does not answer this question any more.");
      setState((before) => ({ ...NOTHING, said: before.saidBefore, saidBefore: "" }));
    } catch (problem) {
      notify(`Not taken back. ${plain(problem.message)}`);
      setState((before) => ({ ...before, busy: false }));
    }
  };
  return { ...state, send, undo };
}

/**
 * That a correction was saved, its undo, and the question once more.
 * @param {{feedback: ReturnType<typeof useFeedback>, again?: () => void}} props
 */
export function Saved({ feedback, again }) {
  const root = useRef(null);
  useEffect(() => {
    // The button that saved is gone, and the focus with it.
    if (document.activeElement === document.body) root.current.focus();
  }, []);
  return html`<div class="actions saved" tabindex="-1" ref=${root}><p role="status"><${Text} value=${feedback.message} /></p>
    ${again && html`<${Button} icon="again" kind="primary" disabled=${feedback.busy} onClick=${again}>Show the corrected answer</${Button}>`}
    <${Button} disabled=${feedback.busy} onClick=${feedback.undo}>Undo</${Button}></div>
    <${Parameters} feedback=${feedback} />`;
}

/** The values of a right query that may be others: the reviewer ticks those with which it still is right, and sees what is stored. */
export function Parameters({ feedback }) {
  const { said, busy, offer, correction, send } = feedback;
  const [ticked, setTicked] = useState(null);
  const { parameters = [], withheld = [], marked = "" } = offer ?? {};
  const chosen = ticked ?? parameters.filter((one) => one.chosen).map((one) => one.name);
  const toggle = (name) => setTicked(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]);
  const fixed = parameters.filter((one) => !chosen.includes(one.name));
  const query = fixed.reduce((sql, { name, literal }) => sql.replace(new RegExp(`:${name}(?![a-z_])`, "g"), () => literal), marked);
  return html`${parameters.length > 0 && html`<div class="checks" role="group" aria-label="Values that may differ"><p>Is it right with other values, too? Tick which may differ.</p>
    ${parameters.map(({ name, phrase, type, column }) => html`<label><input type="checkbox" checked=${chosen.includes(name)} onChange=${() => toggle(name)} />
      <span>“<${Text} value=${phrase} />” <span class="faint">as <${Text} value=${name} />: any ${type === "text" ? html`value of <${Text} value=${column} />` : type}</span></span></label>`)}
    ${chosen.length > 0 && query && html`<${Sql} sql=${query} label="The query as it is stored" />`}
    <${Button} icon="check" disabled=${busy || !ticked} onClick=${() => send(said, correction, chosen)}>Verify with other values</${Button}></div>`}
    ${withheld.length > 0 && html`<p class="faint">Fixed: <${Text} value=${withheld.map((one) => `${one.literal}, as ${one.reason}`).join("; ")} />.</p>`}`;
}
