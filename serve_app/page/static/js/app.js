/** The frame of the page: navigation, the view of the address, notices; or the sign-in. */

import { html, signal, useEffect, useRef } from "../vendor/preact.js";
import { stop, turns } from "./core/conversation.js";
import { href, route } from "./core/router.js";
import { me, phase, rights, start, waiting } from "./core/state.js";
import { Button } from "./components/controls.js";
import { Icon } from "./components/icons.js";
import { ConnectionBar, Notices } from "./components/notices.js";
import { Text } from "./components/text.js";
import { AskView, beginAnew } from "./views/ask.js";
import { HistoryView } from "./views/history.js";
import { MeView } from "./views/me.js";
import { ReviewView } from "./views/review.js";
import { SchemaView } from "./views/schema/schema.js";
import { SignInView, StartProblem } from "./views/sign_in.js";

const menuOpen = signal(false);

/** name → label, icon, component; `right`: only with it. */
const VIEWS = {
  schema: { label: "Data", icon: "table", view: SchemaView },
  history: { label: "History", icon: "history", view: HistoryView },
  review: { label: "Review", icon: "review", view: ReviewView, right: "review" },
  me: { label: "Account", icon: "person", view: MeView, isAside: true },
};
const may = (view) => !view.right || rights.value[view.right];

/** Escape closes the menu, else it stops the question. A dialog closes by itself, and the question behind it goes on. */
function useEscape() {
  useEffect(() => {
    const press = (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
      if (menuOpen.value) menuOpen.value = false;
      else stop();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/**
 * Closes the menu and moves the focus to the heading when another view is shown. A conversation scrolls by itself: to
 * its last turn, or to what was opened since.
 */
function useViewChange(name, key) {
  const first = useRef(true);
  useEffect(() => {
    menuOpen.value = false;
    document.title = !VIEWS[name] ? "QuorumSQL" : `${VIEWS[name].label} – QuorumSQL`;
    if (first.current) {
      first.current = false;
      return undefined;
    }
    const timer = setTimeout(() => {
      if (!document.activeElement || document.activeElement === document.body || document.activeElement.closest(".side")) document.querySelector("main h1")?.focus({ preventScroll: name === "c" });
    }, 80);
    return () => clearTimeout(timer);
  }, [key]);
}

export function App() {
  if (phase.value === "starting") {
    return html`<div class="loading"><span class="wordmark">Quorum<b>SQL</b></span>${waiting.value && html`<p role="status">${waiting.value.status === 0 ? "The service does not answer. Waiting for it …" : "The service is busy. Trying again …"}</p>`}</div>`;
  }
  if (phase.value === "out") return html`<${SignInView} /><${Notices} />`;
  if (phase.value !== "in") return html`<${StartProblem} problem=${phase.value} retry=${start} />`;
  return html`<${Shell} />`;
}

function Shell() {
  const { name, parts } = route.value;
  useEscape();
  useViewChange(name, `${name}/${name === "schema" ? "" : (parts[0] ?? "")}`);
  const view = VIEWS[name];
  return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>To the content</a>
    <${ConnectionBar} />
    <header class="top"><button type="button" class="button quiet" aria-expanded=${menuOpen.value} aria-controls="side" aria-label="Menu" onClick=${() => (menuOpen.value = !menuOpen.value)}><${Icon} name=${menuOpen.value ? "close" : "menu"} /></button>
      <a class="wordmark" href="#/">Quorum<b>SQL</b></a>
      <${Button} icon="plus" kind="quiet" label="New conversation" onClick=${beginAnew} /></header>
    <div class="frame">
      <${Side} name=${name} />
      <main id="main" tabindex="-1">${view && may(view) ? html`<${view.view} />` : html`<${AskView} />`}</main>
    </div>
    <${Notices} />`;
}

function Side({ name }) {
  const isAsking = !VIEWS[name];
  const link = (key, { label, icon }) => html`<a href=${href(key)} class="nav-link" aria-current=${name === key ? "page" : undefined}><${Icon} name=${icon} /><span>${label}</span></a>`;
  return html`<div class=${`side ${menuOpen.value ? "open" : ""}`} id="side">
    <a class="wordmark" href="#/">Quorum<b>SQL</b></a>
    <button type="button" class="button new" onClick=${beginAnew}><${Icon} name="plus" /><span>New conversation</span></button>
    <nav aria-label="Main"><a href="#/" class="nav-link" aria-current=${isAsking ? "page" : undefined}><${Icon} name="ask" /><span>${turns.value.length ? "Conversation" : "Ask"}</span></a>
      ${Object.entries(VIEWS).filter(([, view]) => !view.isAside && may(view)).map(([key, view]) => link(key, view))}</nav>
    <div class="side-foot">
      <a href=${href("me")} class="nav-link person" aria-current=${name === "me" ? "page" : undefined}><${Icon} name="person" /><span><${Text} value=${me.value.name} /></span></a>
    </div>
  </div>`;
}

