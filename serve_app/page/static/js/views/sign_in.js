/** Signing in, with a key or through the identity provider. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { address } from "../core/api.js";
import { farewell, methods, readMethods, signIn } from "../core/state.js";
import { Button } from "../components/controls.js";
import { ProblemNote } from "../components/notices.js";

/** Why the identity provider's answer signed nobody in, by what the service adds to the address. */
const FAILURES = new Map([
  ["cancelled", "You did not finish signing in with your organisation."],
  ["refused", "Signing in with your organisation did not work. If it fails again, ask who runs this service: its log says why."],
  ["unavailable", "Your organisation’s sign-in cannot be reached now. Try again later."],
  ["too_many", "Too many attempts to sign in have failed. Try again in a minute."],
]);

/** The failure that the address names, which is then removed from it. */
function takeFailure() {
  const failure = FAILURES.get(new URLSearchParams(location.search).get("sign_in")) ?? "";
  if (failure) history.replaceState(null, "", location.pathname + location.hash);
  return failure;
}

export function SignInView() {
  const field = useRef(null);
  const [failure] = useState(takeFailure);
  const [state, setState] = useState({ busy: false, problem: null });
  useEffect(() => {
    readMethods();
    field.current?.focus();
  }, []);
  const offers = (method) => methods.value.includes(method);
  const submit = async (event) => {
    event.preventDefault();
    const token = field.current.value.trim();
    if (!token) return;
    setState({ busy: true, problem: null });
    try {
      await signIn(token);
    } catch (problem) {
      setState({ busy: false, problem });
      field.current?.select();
    }
  };
  return html`<main class="sign-in" id="main">
    <h1 class="wordmark">Quorum<b>SQL</b></h1>
    <p class="lead">Ask your data in plain language. Sign in to see what you may see.</p>
    ${farewell.value && html`<p class="policy-note" role="status">${farewell.value}</p>`}
    ${failure && html`<p class="problem framed" role="alert">${failure}</p>`}
    ${offers("provider") && html`<a class="button primary wide" href=${`${address("sign-in/provider")}?next=${encodeURIComponent(`/${location.hash}`)}`}>Continue with your organisation</a>`}
    ${offers("provider") && offers("key") && html`<p class="or faint"><span>or</span></p>`}
    ${(offers("key") || !methods.value.length) && html`<form onSubmit=${submit}>
      <label for="key">Key</label>
      <input id="key" ref=${field} type="password" autocomplete="current-password" spellcheck=${false} required aria-describedby="key-note" />
      <p id="key-note" class="faint">Your API key or token. It is exchanged for a cookie that scripts cannot read, and kept nowhere else.</p>
      <button class=${`button wide ${offers("provider") ? "" : "primary"}`} disabled=${state.busy}>${state.busy ? "Signing in …" : "Sign in"}</button>
    </form>`}
    ${state.problem && (state.problem.status === 401 ? html`<p class="problem framed" role="alert">This key is not known, or it has ended.</p>` : html`<${ProblemNote} problem=${state.problem} />`)}
  </main>`;
}

/** What is shown where the start failed for another reason than a missing sign-in. */
export function StartProblem({ problem, retry }) {
  return html`<main class="sign-in" id="main"><h1 class="wordmark">Quorum<b>SQL</b></h1>
    ${problem.status !== undefined ? html`<${ProblemNote} problem=${problem} retry=${retry} />` : html`<p class="problem framed" role="alert">The page could not start.</p><${Button} onClick=${retry}>Try again</${Button}>`}</main>`;
}
