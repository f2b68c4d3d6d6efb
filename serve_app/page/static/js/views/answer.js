/** An answer: the sentence, how sure it is, the rows as table or chart, and what can be done next. */

import { html, useId, useState } from "../../vendor/preact.js";
import { askCorrected } from "../core/conversation.js";
import { refer } from "../core/files.js";
import { Button } from "../components/controls.js";
import { Rows } from "../components/rows.js";
import { PolicyNote, Text } from "../components/text.js";
import { describeConfidence, listGrounds, writeReading, writeSentence } from "../words.js";
import { CorrectView } from "./correct.js";
import { Parameters, useFeedback } from "./feedback.js";
import { WhyView } from "./why/why.js";

/** @param {{turn: object}} props */
export function Answer({ turn }) {
  const { answer, chosenSql } = turn.value;
  const feedback = useFeedback(answer);
  return html`<div class="answer">
    <${Account} answer=${answer} isReadingChosen=${Boolean(chosenSql)} said=${feedback.said} />
    <${Rows} answer=${answer} />
    ${answer.predicates?.length > 0 && html`<${PolicyNote} predicates=${answer.predicates} />`}
    <${Actions} answer=${answer} feedback=${feedback} again=${() => askCorrected(turn)} />
  </div>`;
}

/** What can be done where nothing was answered. @param {{turn: object, sql?: string}} props `sql`: the query nearest to one */
export function NoAnswerActions({ turn, sql = "" }) {
  const { question, database } = turn.value;
  const answer = { question, database, ...turn.value.answer, sql };
  return html`<${Actions} answer=${answer} feedback=${useFeedback(answer)} again=${() => askCorrected(turn)} />`;
}

/** The answer in words: what it is, what was asked of the data, how sure that is. */
function Account({ answer, isReadingChosen, said }) {
  return html`<p class="sentence"><${Text} value=${writeSentence(answer)} /></p>
    ${answer.description && html`<p class="reading-of"><${Text} value=${writeReading(answer.description)} /></p>`}
    <${Confidence} answer=${answer} isReadingChosen=${isReadingChosen} said=${said} />`;
}

/** The confidence in words with a small meter; what it rests on, behind a click. */
function Confidence({ answer, isReadingChosen, said }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const found = describeConfidence(answer, isReadingChosen);
  if (said === "wrong") return html`<p class="confidence">You called this answer wrong.</p>`;
  if (!found) return null;
  return html`<div class=${`confidence level-${found.level}`}>
    <button type="button" aria-expanded=${open} aria-controls=${id} title="What this rests on" onClick=${() => setOpen(!open)}>
      <span class="meter" aria-hidden="true">${[1, 2, 3, 4].map((step) => html`<i class=${step <= found.level ? "on" : ""}></i>`)}</span>
      <strong>${found.label}</strong>
    </button>
    <span class="confidence-summary">${found.summary}</span>
    <ul id=${id} class="grounds" hidden=${!open}>${open && listGrounds(answer, isReadingChosen).map((ground) => html`<li>${ground}</li>`)}</ul>
  </div>`;
}

/**
 * What can be done with an answer: why, SQL, right or wrong.
 * @param {{answer: object, feedback: object, again: () => void}} props `again` asks once more, after a correction
 */
function Actions({ answer, feedback, again }) {
  const [panel, setPanel] = useState("");
  const toggle = (name) => setPanel(panel === name ? "" : name);
  const sayWrong = async () => {
    if (await feedback.send("wrong")) setPanel("correct");
  };
  const isAnswered = answer.outcome === "answered";
  // What was refused for safety or rights, no query can answer.
  const can = { why: answer.trace, judge: isAnswered ? refer(answer) : answer.outcome !== "refused" || answer.code === "off_topic" };
  return html`<footer class="answer-foot">
    <div class="actions">
      ${can.why && html`<${Button} icon="why" aria-expanded=${panel === "why"} onClick=${() => toggle("why")}>${isAnswered ? "Why this answer" : "Why"}</${Button}>`}
      ${(answer.sql || feedback.said) && html`<${Button} icon="edit" aria-expanded=${panel === "correct"} onClick=${() => toggle("correct")}>SQL</${Button}>`}
      ${can.judge && html`<span class="verdict" role="group" aria-label="Is this answer right?">
        <span class="faint verdict-label">${feedback.said ? "Thank you" : isAnswered ? "Is this right?" : "Not what you need? Show it to reviewers"}</span>
        ${isAnswered && html`<${Button} icon="up" label="The answer is right" kind="quiet" aria-pressed=${feedback.said === "right"} disabled=${feedback.busy} onClick=${() => feedback.send("right")} />`}
        <${Button} icon="down" label="The answer is wrong" kind="quiet" aria-pressed=${feedback.said === "wrong"} disabled=${feedback.busy} onClick=${sayWrong} />
      </span>`}
    </div>
    ${feedback.message && html`<p class="feedback-message" role="status">${feedback.message}</p>`}
    ${!feedback.saved && html`<${Parameters} feedback=${feedback} />`}
    ${panel === "why" && html`<${WhyView} answer=${answer} />`}
    ${panel === "correct" && html`<${CorrectView} answer=${answer} feedback=${feedback} again=${again} isWrong=${feedback.said === "wrong"} />`}
  </footer>`;
}
