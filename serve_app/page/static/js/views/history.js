/** The reader's conversations: search, delete with undo. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { query, request } from "../core/api.js";
import { running, session, startAnew } from "../core/conversation.js";
import { formatAgo, formatTime } from "../core/format.js";
import { useDelayed, useLoaded } from "../core/loading.js";
import { href, replace } from "../core/router.js";
import { count, plain } from "../core/text.js";
import { Button } from "../components/controls.js";
import { Loading, More, notify } from "../components/notices.js";
import { Text } from "../components/text.js";

const PAGE = 50;
const PAUSE_MS = 160;
const at = (id) => `conversations/${encodeURIComponent(id)}`;

export function HistoryView() {
  const [text, setText] = useState("");
  const [gone, setGone] = useState(() => new Set());
  const search = useDelayed(text, PAUSE_MS);
  const loaded = useLoaded(`conversations${query({ search, limit: PAGE })}`);
  useReloads(loaded.retry);
  const entries = (loaded.data?.conversations ?? []).filter((one) => !gone.has(one.id));
  const forgetOne = (one) => {
    setGone((before) => new Set(before).add(one.id));
    const restore = () => setGone((before) => new Set([...before].filter((id) => id !== one.id)));
    const settle = () => request(at(one.id), { method: "DELETE", keepalive: true }).then(
      () => {
        if (session.value !== one.id) return;
        startAnew();
        replace("ask");
      },
      (problem) => {
        restore();
        if (problem.status !== 401) notify(`Not deleted. ${plain(problem.message)}`);
      },
    );
    notify(`Deleted “${plain(one.title).slice(0, 60)}”`, { undo: restore, settle });
  };
  return html`<div class="page narrow">
    <h1 tabindex="-1">History</h1>
    <p class="lead">Your conversations. Questions and queries are kept, rows never: they are read again as you come to them.</p>
    <input type="search" class="search" placeholder="Search in questions" aria-label="Search in questions" autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} />
    ${!loaded.data ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : html`
      <ul class="conversations">${entries.map((one) => html`<${Entry} key=${one.id} one=${one} remove=${() => forgetOne(one)} />`)}</ul>
      ${entries.length === 0 && html`<p class="faint" role="status">${search ? "No conversation matches." : "No conversations yet. What you ask will be listed here."}</p>`}
      <${More} loaded=${loaded} list="conversations" />`}
  </div>`;
}

/** Reads the list again when a question has ended, and when the reader comes back to this tab. */
function useReloads(reload) {
  const latest = useRef(reload);
  latest.current = reload;
  const isRunning = Boolean(running.value);
  const wasRunning = useRef(isRunning);
  useEffect(() => {
    if (wasRunning.current && !isRunning) latest.current();
    wasRunning.current = isRunning;
  }, [isRunning]);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && latest.current();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
}

function Entry({ one, remove }) {
  return html`<li>
    <a class="conversation-link" href=${href("c", one.id)}><span class="conversation-title"><${Text} value=${one.title} /></span>
      <span class="faint" title=${formatTime(one.asked_at)}>${formatAgo(one.asked_at)} · ${count(one.questions, "question")} · <${Text} value=${one.database} /></span></a>
    <${Button} icon="bin" kind="quiet" label="Delete" onClick=${remove} />
  </li>`;
}
