/** A link to an answer. Whoever opens it sees what their own policy shows. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { address, isOnlyHere, requestJson } from "../core/api.js";
import { copyText, refer } from "../core/files.js";
import { href } from "../core/router.js";
import { me } from "../core/state.js";
import { Button, Dialog } from "../components/controls.js";
import { ProblemNote } from "../components/notices.js";

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
