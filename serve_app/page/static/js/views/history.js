/** The reader's conversations: search, star, rename, delete with undo. */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { query, request, requestJson } from "../core/api.js";
import { leave, running, session } from "../core/conversation.js";
import { formatAgo, formatTime } from "../core/format.js";
import { useDelayed, useLoaded } from "../core/loading.js";
import { href } from "../core/router.js";
import { count, plain } from "../core/text.js";
import { Button } from "../components/controls.js";
import { Loading, More, notify } from "../components/notices.js";
import { Text } from "../components/text.js";

const PAGE = 50;
const PAUSE_MS = 160;
const at = (id) => `conversations/${encodeURIComponent(id)}`;

export function HistoryView() {
  const [text, setText] = useState("");
  const [starred, setStarred] = useState(false);
  const [gone, setGone] = useState(() => new Set());
  const search = useDelayed(text, PAUSE_MS);
  const loaded = useLoaded(`conversations${query({ search, starred, limit: PAGE })}`);
  useReloads(loaded.retry);
  const entries = (loaded.data?.conversations ?? []).filter((one) => !gone.has(one.id));
  const replace = (changed) => loaded.change({ ...loaded.data, conversations: loaded.data.conversations.map((one) => (one.id === changed.id ? { ...one, ...changed } : one)) });

  const change = async (one, values) => {
    replace({ ...one, ...values });
    try {
      replace(await requestJson(at(one.id), { method: "PATCH", body: values }));
    } catch (problem) {
      replace(one);
      notify(`Not changed. ${plain(problem.message)}`);
    }
  };
  const forgetOne = (one) => {
    setGone((before) => new Set(before).add(one.id));
    const restore = () => setGone((before) => {
      const next = new Set(before);
      next.delete(one.id);
      return next;
    });
    const settle = () => request(at(one.id), { method: "DELETE", keepalive: true }).then(
      () => session.value === one.id && leave(),
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
    <div class="field-row">
      <input type="search" class="search" placeholder="Search in questions and titles" aria-label="Search in questions and titles" autocomplete="off" value=${text} onInput=${(event) => setText(event.target.value)} />
      <${Button} icon="star" aria-pressed=${starred} onClick=${() => setStarred(!starred)}>Starred</${Button}>
    </div>
    ${!loaded.data ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : html`
      <ul class="conversations">${entries.map((one) => html`<${Entry} key=${one.id} one=${one} change=${(values) => change(one, values)} remove=${() => forgetOne(one)} />`)}</ul>
      ${entries.length === 0 && html`<p class="faint" role="status">${search || starred ? "No conversation matches." : "No conversations yet. What you ask will be listed here."}</p>`}
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

function Entry({ one, change, remove }) {
  const [naming, setNaming] = useState(false);
  const item = useRef(null);
  const field = useRef(null);
  // At once, so that the first key is not typed into the old title.
  useLayoutEffect(() => {
    if (naming) field.current?.select();
  }, [naming]);
  const stopNaming = () => {
    setNaming(false);
    setTimeout(() => item.current?.querySelector("a")?.focus());
  };
  const save = (event) => {
    event.preventDefault();
    const title = field.current.value.trim();
    if (title && title !== one.title) change({ title });
    stopNaming();
  };
  return html`<li ref=${item}>
    ${naming ? html`<form class="field-row" onSubmit=${save} onKeyDown=${(event) => event.key === "Escape" && (event.preventDefault(), stopNaming())}>
        <input ref=${field} aria-label="Title of the conversation" maxlength="200" defaultValue=${one.title} /><button class="button primary">Save</button><${Button} kind="quiet" onClick=${stopNaming}>Cancel</${Button}></form>`
      : html`<a class="conversation-link" href=${href("c", one.id)}><span class="conversation-title"><${Text} value=${one.title} /></span>
          <span class="faint" title=${formatTime(one.asked_at)}>${formatAgo(one.asked_at)} · ${count(one.questions, "question")} · <${Text} value=${one.database} /></span></a>
        <span class="conversation-tools">
          <${Button} icon="star" kind=${`quiet ${one.starred ? "is-on" : ""}`} label=${one.starred ? "Remove the star" : "Star"} aria-pressed=${one.starred} onClick=${() => change({ starred: !one.starred })} />
          <${Button} icon="edit" kind="quiet" label="Rename" onClick=${() => setNaming(true)} />
          <${Button} icon="bin" kind="quiet" label="Delete" onClick=${remove} /></span>`}
  </li>`;
}
