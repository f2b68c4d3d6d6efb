/** What the model was told. */

import { html } from "../../../vendor/preact.js";
import { Block, Sql, Text } from "../../components/text.js";

const ROLES = { system: "Instructions", user: "Question and data", assistant: "Model" };

export function PromptView({ trace }) {
  const prompts = Object.entries(trace.prompts).length ? Object.entries(trace.prompts) : [["", trace.prompt]];
  const isEmpty = prompts.every(([, messages]) => !messages.length);
  if (isEmpty) return html`<p>The model was not asked.</p>`;
  return html`<p class="faint">Exactly what the model was told. It sees no rows of your data but the values listed under “Data found”.</p>
    ${prompts.map(([variant, messages]) => html`<section>${prompts.length > 1 && html`<h4 class="eyebrow">Wording “<${Text} value=${variant} />”</h4>`}
      ${messages.map((message) => html`<h5>${ROLES[message.role] ?? message.role}</h5><${Block} value=${message.content} label=${ROLES[message.role] ?? message.role} />`)}</section>`)}
    ${trace.draft_query && html`<h4 class="eyebrow">First draft</h4><${Sql} sql=${trace.draft_query} label="First draft" />`}`;
}
