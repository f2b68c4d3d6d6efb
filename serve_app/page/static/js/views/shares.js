/** Links to answers: making one, what was shared, and ending it. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { address, isOnlyHere, query, request, requestJson } from "../core/api.js";
import { copyText, refer } from "../core/files.js";
import { formatTime } from "../core/format.js";
import { useLoaded } from "../core/loading.js";
import { href } from "../core/router.js";
import { me } from "../core/state.js";
import { plain } from "../core/text.js";
import { Button, Dialog } from "../components/controls.js";
import { Loading, More, notify, ProblemNote } from "../components/notices.js";
import { Text } from "../components/text.js";

const PAGE = 50;

export function Shares() {
  const loaded = useLoaded(`shares${query({ limit: PAGE })}`);
  const shares = loaded.data?.shares ?? [];
  const drop = (id) => loaded.change({ ...loaded.data, shares: shares.filter((one) => one.id !== id) });
  return html`<section><h2>Shared by you</h2>
    ${!loaded.data ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : html`
      ${shares.length === 0 ? html`<p class="faint">Nothing. A link that you make with Share is listed here until it ends.</p>`
        : html`<ul class="conversations shares">${shares.map((one) => html`<${Share} key=${one.id} one=${one} drop=${() => drop(one.id)} />`)}</ul>`}
      <${More} loaded=${loaded} list="shares" />`}
  </section>`;
}

function Share({ one, drop }) {
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    setBusy(true);
    try {
      await request(`shares/${encodeURIComponent(one.id)}`, { method: "DELETE" });
      notify("The link does not work any more.");
      drop();
    } catch (problem) {
      // It has ended already, perhaps in another tab.
      if (problem.status === 404) drop();
      else {
        setBusy(false);
        notify(`Still shared. ${plain(problem.message)}`);
      }
    }
  };
  const title = one.is_withheld ? "Hidden: you may not run its query any more" : one.question;
  return html`<li>
    <a class="conversation-link" href=${href("share", one.id)}><span class="conversation-title"><${Text} value=${title} /></span>
      <span class="faint">shared ${formatTime(one.shared_at)} · ${one.ends_at ? `ends ${formatTime(one.ends_at)}` : "does not end by itself"} · <${Text} value=${one.database} /></span></a>
    <span class="conversation-tools"><${Button} disabled=${busy} onClick=${stop}>Stop sharing</${Button}></span>
  </li>`;
}

/** A link to an answer. Whoever opens it sees what their own policy shows. */
export function ShareDialog({ answer, close }) {
  const [state, setState] = useState({ link: "", problem: null, copied: false });
  const [turn, setTurn] = useState(0);
  const field = useRef(null);
  useEffect(() => {
    const stopper = new AbortController();
    const body = { question: answer.rewritten || answer.question, ...refer(answer) };
    requestJson("shares", { method: "POST", body, abort: stopper.signal }).then(
      ({ id }) => setState({ link: `${address("")}${href("share", id)}`, problem: null, copied: false }),
      (problem) => problem.name !== "AbortError" && setState({ link: "", problem, copied: false }),
    );
    return () => stopper.abort();
  }, [turn]);
  useEffect(() => {
    field.current?.select();
  }, [state.link]);
  const copy = async () => {
    await copyText(state.link);
    setState({ ...state, copied: true });
  };
  return html`<${Dialog} title="Share this answer" close=${close}>
    <p>${me.value.sign_in === "none"
      ? "This service has no sign-in: whoever opens the link sees the rows. The query is run again each time."
      : "Whoever opens the link must sign in. The query is run again as them, so they see only what they may see."}</p>
    ${isOnlyHere(address("").hostname) && html`<p class="policy-note">This address works only on this computer.</p>`}
    ${state.problem && html`<${ProblemNote} problem=${state.problem} retry=${() => { setState({ ...state, problem: null }); setTurn(turn + 1); }} />`}
    ${!state.problem && html`<div class="field-row"><input ref=${field} readonly aria-label="Link to this answer" value=${state.link || "…"} />
      <${Button} icon="copy" kind="primary" disabled=${!state.link} onClick=${copy}>${state.copied ? "Copied" : "Copy the link"}</${Button}></div>`}
  <//>`;
}
