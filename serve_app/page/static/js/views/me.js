/** Who the reader is to the service: roles, limits, what is hidden, and signing out. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { formatNumber, formatSpan } from "../core/format.js";
import { me, refreshMe, signOut } from "../core/state.js";
import { plain } from "../core/text.js";
import { Bar, Button } from "../components/controls.js";
import { notify } from "../components/notices.js";
import { Sql, Text } from "../components/text.js";

/** name of a limit → what it counts, and what the count means where that is not plain */
const LIMITS = {
  requests_per_minute: ["Requests per minute", "Questions, and other things that the page reads"],
  questions_at_once: ["Questions at the same time", ""],
  tokens_per_day: ["Work of the language model per day", "Counted in tokens: pieces of words that it reads and writes"],
  rows_per_day: ["Rows of answers per day", ""],
};

export function MeView() {
  useEffect(() => void refreshMe(), []);
  const person = me.value;
  if (!person) return null;
  const isSignedIn = person.sign_in === "cookie";
  return html`<div class="page narrow">
    <h1 tabindex="-1"><${Text} value=${person.name} /></h1>
    <p class="lead">${person.sign_in === "none" ? "This service has no sign-in. Everybody who opens this page is this one user, and sees the same history." : person.roles.length ? html`Your ${person.roles.length === 1 ? "role" : "roles"}: ${person.roles.map((role, number) => html`${number > 0 && ", "}<strong><${Text} value=${role} /></strong>`)}.` : "No role is given to you."}</p>
    <section><h2>What you may do</h2>
      <ul class="rights">${person.databases.length ? html`<li class="yes">Ask questions about <${Text} value=${person.databases.join(", ")} /></li>` : html`<li class="no">Ask questions<span class="faint"> (no database is open to you)</span></li>`}
        <li class=${person.rights.review ? "yes" : "no"}>Review answers that people called wrong, and correct them${person.rights.review ? "" : html`<span class="faint"> (not open to you)</span>`}</li></ul></section>
    <section><h2>How much you may use</h2>${person.limits.length ? html`<ul class="limits">${person.limits.map((limit) => html`<${Limit} limit=${limit} />`)}</ul>` : html`<p class="faint">As much as you like: no limits are set for you.</p>`}</section>
    <section><h2>What is hidden from you</h2><${Hidden} hidden=${person.hidden} /></section>
    ${isSignedIn && html`<section><h2>Your sign-in</h2><div class="actions"><${SignOut} /></div></section>`}
  </div>`;
}

function Limit({ limit }) {
  const left = Math.max(0, limit.most - limit.used);
  const [name, meaning] = LIMITS[limit.name] ?? [limit.name, ""];
  const notes = [meaning, limit.resets_in_s ? `All of it is there again in ${formatSpan(limit.resets_in_s)}` : ""].filter(Boolean);
  return html`<li><span class="limit-name">${name}</span><span>${formatNumber(left)} of ${formatNumber(limit.most)} left</span>
    <${Bar} share=${limit.most ? left / limit.most : 0} /><span class="faint">${notes.map((note) => `${note}.`).join(" ")}</span></li>`;
}

function Hidden({ hidden }) {
  if (!hidden.length) return html`<p class="faint">Nothing in the tables that you see under Data. A table that you may not see at all is not listed there.</p>`;
  return html`<p class="faint">Your organisation decides which rows and columns you see. These rules apply to every query here. A hidden value is shown as empty (NULL) or as a code. A table that you may not see at all is not listed.</p>
    <div class="scroll-x" tabindex="0" role="region" aria-label="Hidden rows and columns"><table class="facts hidden-rules"><thead><tr><th scope="col">Table</th><th scope="col">Rows that you see</th><th scope="col">Columns with hidden values</th></tr></thead>
    <tbody>${hidden.map((one) => html`<tr><th scope="row"><code><${Text} value=${one.table} /></code></th>
      <td>${one.rows ? html`only where <${Sql} sql=${one.rows} inline=${true} />` : one.some_rows ? "only some" : "all"}</td>
      <td>${one.columns.length ? html`<code><${Text} value=${one.columns.join(", ")} /></code>` : html`<span class="faint">–</span>`}</td></tr>`)}</tbody></table></div>`;
}

function SignOut() {
  const [busy, setBusy] = useState(false);
  const run = (everywhere) => async () => {
    setBusy(true);
    try {
      await signOut(everywhere);
    } catch (problem) {
      notify(`You are still signed in. ${plain(problem.message)}`);
      setBusy(false);
    }
  };
  return html`<${Button} disabled=${busy} onClick=${run(false)}>Sign out</${Button}><${Button} disabled=${busy} onClick=${run(true)}>Sign out everywhere</${Button}>`;
}
