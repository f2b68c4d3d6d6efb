/** What the page says by itself: announcements, short notices with undo, problems with a retry. */

import { html, signal, useEffect, useRef, useState } from "../../vendor/preact.js";
import { connection, tryNow } from "../core/api.js";
import { onForget } from "../core/state.js";
import { count, plain } from "../core/text.js";
import { formatSpan } from "../core/format.js";
import { Button } from "./controls.js";
import { Prose } from "./text.js";

const announced = signal("");
const notice = signal(null);
let timer = 0;

/** Says something to screen readers only. */
export function announce(text) {
  announced.value = plain(text);
}

/** Shows a short notice. `undo` takes back what was done; `settle` is called when it no longer can be. */
export function notify(text, { undo = null, settle = null, ms = 6000 } = {}) {
  settleNotice();
  notice.value = { text, undo, settle };
  timer = setTimeout(settleNotice, ms);
}

/** The notice that is shown, which ends. */
function take() {
  clearTimeout(timer);
  const { value } = notice;
  notice.value = null;
  return value;
}

const settleNotice = () => take()?.settle?.();
addEventListener("pagehide", settleNotice);

onForget(() => {
  take();
  announced.value = "";
});

export function Notices() {
  const { value } = notice;
  const root = useRef(null);
  useEffect(() => {
    // What was deleted is gone, and the focus with it: the notice ends soon, so Undo is one key away.
    if (document.activeElement === document.body) root.current.querySelector("button")?.focus();
  }, [value]);
  return html`<div class="notices">
    <div class="off-screen" role="status" aria-live="polite">${announced.value}</div>
    <div role="status" aria-live="polite" ref=${root}>
      ${value && html`<p class="notice"><span>${value.text}</span>${value.undo && html`<${Button} kind="on-dark" onClick=${() => take().undo()}>Undo</${Button}>`}</p>`}
    </div>
  </div>`;
}

/** A bar across the page while the service cannot be reached. */
export function ConnectionBar() {
  const away = connection.value === "away";
  return html`<div role="status" aria-live="polite">
    ${away && html`<p class="connection"><span>The service does not answer. The page goes on by itself as soon as it does.</span>
      <${Button} kind="on-dark" onClick=${tryNow}>Try now</${Button}></p>`}
  </div>`;
}

/** The time, redrawn twice a second, unless it does not go on. */
export function useClock(goesOn = true) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!goesOn) return undefined;
    const ticker = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(ticker);
  }, [goesOn]);
  return now;
}

/** The whole seconds left. */
export const countDown = (until, now) => Math.max(0, Math.ceil((until - now) / 1000));

/** A problem in words, what can be done, and a button that tries again. */
export function ProblemNote({ problem, retry, retryLabel = "Try again" }) {
  const [since] = useState(Date.now());
  const left = countDown(since + problem.retryAfterS * 1000, useClock(problem.retryAfterS > 0));
  const fields = Array.isArray(problem.body?.errors) ? problem.body.errors : [];
  return html`<div class="problem framed" role="alert">
    <p class="problem-title">${nameProblem(problem)}</p>
    <p><${Prose} value=${problem.message} /></p>
    ${fields.length > 1 && html`<ul>${fields.map((one) => html`<li><${Prose} value=${`${one.field}: ${one.message}`} /></li>`)}</ul>`}
    ${problem.retryAfterS > 0 && html`<p class="faint">${left > 0 ? `It can be tried again in ${left > 90 ? formatSpan(left) : count(left, "second")}.` : "It can be tried again now."}</p>`}
    ${retry && html`<${Button} icon="again" onClick=${retry}>${retryLabel}</${Button}>`}
  </div>`;
}

function nameProblem(problem) {
  if (problem.status === 0) return "The service does not answer";
  if (problem.status === 429) return "A limit is reached";
  if (problem.status === 503) return "The service is busy or a part of it is unavailable";
  if (problem.status === 403) return "Not permitted";
  if (problem.status === 404) return "Not found";
  if (problem.status === 504) return "It took too long";
  if (problem.status >= 500) return "The service failed";
  return problem.status === 422 ? "Not accepted" : plain(problem.title) || "Something went wrong";
}

/** What a view shows while its data are loaded, or why they are not. */
export function Loading({ state, retry }) {
  if (state.problem) return html`<${ProblemNote} problem=${state.problem} retry=${retry} />`;
  const text = !state.waiting ? "Loading …" : state.waiting.status === 0 ? "Waiting for the service …" : "The service is busy; trying again …";
  return html`<p class="faint loading-line" role="status">${text}</p>`;
}

/**
 * The button below a list that comes in pages.
 * @param {{loaded: ReturnType<typeof import("../core/loading.js").useLoaded>, list: string}} props the name of the list in the data
 */
export function More({ loaded, list }) {
  const run = () => loaded.more(list).catch((problem) => notify(plain(problem.message)));
  return loaded.data?.next ? html`<${Button} onClick=${run}>Show more</${Button}>` : null;
}
