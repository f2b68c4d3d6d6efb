/** The field for a question, with the database that is asked. */

import { html, useEffect, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { ask, draft, running, stop } from "../core/conversation.js";
import { database, databases } from "../core/state.js";
import { clean, plain } from "../core/text.js";
import { Icon } from "../components/icons.js";

/** Asks the text of the field. */
function send() {
  const question = clean(draft.value).trim();
  if (!question || running.value) return;
  draft.value = "";
  ask(question);
}

export function AskField({ isFollowUp }) {
  const field = useRef(null);
  useLayoutEffect(() => {
    // Grows with its text, up to a third of the window.
    const element = field.current;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, innerHeight / 3)}px`;
  }, [draft.value]);
  useEffect(() => {
    if (!isFollowUp && matchMedia("(pointer: fine)").matches) field.current?.focus({ preventScroll: true });
  }, [isFollowUp]);
  const press = (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (!stop()) field.current.blur();
    }
  };
  const isRunning = Boolean(running.value);
  return html`<form class=${`ask ${isFollowUp ? "follow-up" : ""}`} onSubmit=${(event) => { event.preventDefault(); send(); }}>
    <label class="off-screen" for="question">${isFollowUp ? "Ask a follow-up question" : "Your question"}</label>
    <textarea id="question" ref=${field} rows="1" dir="auto" autocomplete="off" placeholder=${isFollowUp ? "Ask a follow-up …" : "Ask about your data …"}
      value=${draft.value} onInput=${(event) => (draft.value = event.target.value)} onKeyDown=${press}></textarea>
    <div class="ask-row">
      ${databases.value.length > 1 && !isFollowUp ? html`<label class="choice"><span class="off-screen">Database</span>
        <select value=${database.value} onChange=${(event) => (database.value = event.target.value)}>
          ${databases.value.map((one) => html`<option value=${one.name}>${plain(one.name)}</option>`)}
        </select></label>` : html`<span class="ask-database faint">${databases.value.length > 1 || isFollowUp ? plain(database.value) : ""}</span>`}
      ${isRunning
        ? html`<button type="button" class="send stop" title="(Escape)" onClick=${stop}><${Icon} name="stop" /><span>Stop</span></button>`
        : html`<button type="submit" class="send" title="(Enter)" disabled=${!draft.value.trim()}><${Icon} name="send" /><span>Ask</span></button>`}
    </div>
  </form>`;
}
