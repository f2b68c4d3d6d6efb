/** The confidence in words with a small meter; what it rests on, behind a click. */

import { html, useId, useState } from "../../vendor/preact.js";
import { describeConfidence, listGrounds } from "../words/confidence.js";

export function Confidence({ answer, isReadingChosen }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const found = describeConfidence(answer, isReadingChosen);
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
