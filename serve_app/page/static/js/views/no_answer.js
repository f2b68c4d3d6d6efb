/** Outcomes without rows: refused on purpose, or no query that works. */

import { html } from "../../vendor/preact.js";
import { ask } from "../core/conversation.js";
import { clean } from "../core/text.js";
import { Button } from "../components/controls.js";
import { Prose, Sql, Text } from "../components/text.js";
import { NoAnswerActions } from "./answer.js";

const REFUSALS = {
  off_topic: "This is not about the data that can be asked here.",
  read_only: "Questions can only read. Nothing here changes data.",
  not_permitted: "You may not see what this question needs.",
};

export function Refused({ turn }) {
  const { answer } = turn.value;
  const { suggestions } = answer;
  return html`<div class="no-answer">
    ${answer.code === "small_talk" ? html`<p class="sentence"><${Prose} value=${answer.reason} /></p>` : html`<p class="sentence">${REFUSALS[answer.code] ?? "This is not answered, on purpose."}</p>
    <p><${Prose} value=${answer.reason} /></p>`}
    ${suggestions.length > 0 && html`<h3 class="eyebrow">You could ask</h3>
      <ul class="suggestions">${suggestions.map((question) => html`<li><button type="button" onClick=${() => ask(clean(question))}><${Text} value=${question} /></button></li>`)}</ul>`}
    <${NoAnswerActions} turn=${turn} />
  </div>`;
}

export function Failed({ turn, again }) {
  const { answer } = turn.value;
  const { attempts } = answer;
  return html`<div class="no-answer">
    <p class="sentence">No query worked for this question.</p>
    <p><${Prose} value=${answer.reason} /></p>
    <${Button} icon="again" onClick=${again}>Ask again</${Button}>
    ${attempts.length > 0 && html`<details class="attempts"><summary>What was tried (${attempts.length})</summary>
      ${attempts.map((one) => html`<section><${Sql} sql=${one.sql} /><p class="finding error"><${Prose} value=${one.error} /></p></section>`)}</details>`}
    <${NoAnswerActions} turn=${turn} />
  </div>`;
}
