/** The conversation: at first one field and suggestions, then the turns and a field to go on. */

import { batch, html, useEffect, useRef } from "../../vendor/preact.js";
import { ask, session, show, startAnew, title, turns } from "../core/conversation.js";
import { useLoaded } from "../core/loading.js";
import { go, replace, route } from "../core/router.js";
import { database, databases } from "../core/state.js";
import { clean, count } from "../core/text.js";
import { Loading } from "../components/notices.js";
import { Text } from "../components/text.js";
import { AskField } from "./ask_field.js";
import { Turn } from "./turn.js";

export function AskView() {
  const wanted = route.value.name === "c" ? route.value.parts[0] : "";
  const path = wanted && wanted !== session.value ? `conversations/${encodeURIComponent(wanted)}` : null;
  const opening = useLoaded(path);
  useEffect(() => {
    if (opening.data?.id === wanted) show(opening.data);
  }, [opening.data]);
  const last = useRef(0);
  useEffect(() => {
    // The address of a conversation that has begun is its own, so that it can be bookmarked.
    if (!wanted && route.value.name === "ask" && turns.value.some((turn) => turn.value.answer)) replace("c", session.value);
  }, [turns.value.at(-1)?.value.answer, wanted]);
  useEffect(() => {
    // At once to the end of a conversation that is opened: the rows on the way would be read, and move it.
    const isCalm = turns.value.at(-1)?.value.kept || matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (turns.value.length > last.current) document.querySelector(".turn:last-of-type h2")?.scrollIntoView({ block: "start", behavior: isCalm ? "instant" : "smooth" });
    last.current = turns.value.length;
  }, [turns.value.length]);
  if (path) {
    return html`<div class="page narrow"><h1 class="off-screen" tabindex="-1">Conversation</h1><${Loading} state=${opening} retry=${opening.retry} /></div>`;
  }
  if (!turns.value.length) return html`<${Start} />`;
  return html`<div class="conversation">
    <h1 class="off-screen" tabindex="-1">${title.value ? html`<${Text} value=${title.value} />` : "Conversation"}</h1>
    <div class="turns">${turns.value.map((turn, at) => html`<${Turn} key=${turn.value.key} turn=${turn} isLast=${at === turns.value.length - 1} />`)}</div>
    <div class="dock"><${AskField} isFollowUp=${true} /></div>
  </div>`;
}

function Start() {
  const name = database.value;
  const suggestions = useLoaded(name ? `databases/${encodeURIComponent(name)}/suggestions` : null);
  const questions = (suggestions.path?.includes(encodeURIComponent(name)) ? suggestions.data?.questions : null) ?? [];
  const about = databases.value.find((one) => one.name === name);
  return html`<div class="start">
    <h1 tabindex="-1">What would you like to know?</h1>
    <${AskField} />
    ${about && html`<p class="about faint"><${Text} value=${about.description || about.name} /> · <a href=${`#/schema/${encodeURIComponent(name)}`}>${count(about.tables, "table")}</a></p>`}
    ${databases.value.length === 0 && html`<p class="problem framed">There is no database that you may ask. Whoever runs this service can give you access.</p>`}
    ${questions.length > 0 && html`<section aria-labelledby="suggestions"><h2 id="suggestions" class="eyebrow">Questions to begin with</h2>
      <ul class="suggestions">${questions.map((question) => html`<li><button type="button" onClick=${() => ask(clean(question))}><${Text} value=${question} /></button></li>`)}</ul></section>`}
  </div>`;
}

/** Opens an empty conversation, wherever the reader is. */
export function beginAnew() {
  batch(() => {
    go("ask");
    startAnew();
  });
}
