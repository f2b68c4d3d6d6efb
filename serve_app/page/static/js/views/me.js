/** Who the reader is to the service: roles, limits, what is hidden, and signing out. */

import { html, useEffect, useState } from "../../vendor/preact.js";
import { formatNumber, formatSpan } from "../core/format.js";
import { me, refreshMe } from "../core/state.js";
import { dark, switchTheme } from "../core/theme.js";
import { count } from "../core/text.js";
import { Bar, Button } from "../components/controls.js";
import { Sql, Text } from "../components/text.js";
import { trySignOut } from "./sign_in.js";

const LIMITS = {
  requests_per_minute: "Requests in a minute",
  questions_at_once: "Questions at the same time",
  tokens_per_day: "Tokens of the model in a day",
  rows_per_day: "Rows in a day",
};
const RIGHTS = [
  ["process", "See queries and how answers come about"],
  ["review", "Work through answers that were called wrong"],
  ["operate", "See the status of the service"],
];

export function MeView() {
  useEffect(() => void refreshMe(), []);
  const person = me.value;
  if (!person) return null;
  const isSignedIn = person.sign_in === "cookie";
  return html`<div class="page narrow">
    <h1 tabindex="-1"><${Text} value=${person.name} /></h1>
    <p class="lead">${person.sign_in === "none" ? "This service asks for no sign-in: whoever reaches it is this user." : person.roles.length ? html`You have ${person.roles.length === 1 ? "the role" : "the roles"} ${person.roles.map((role, number) => html`${number > 0 && ", "}<strong><${Text} value=${role} /></strong>`)}.` : "You have no role."}</p>
    <section><h2>What you may do</h2>
      <ul class="rights"><li class="yes">Ask ${person.databases.length ? html`<${Text} value=${person.databases.join(", ")} />` : "no database"}</li>
        ${RIGHTS.map(([right, text]) => html`<li class=${person.rights[right] ? "yes" : "no"}>${text}${person.rights[right] ? "" : html`<span class="faint"> — not you</span>`}</li>`)}</ul></section>
    <section><h2>Limits</h2>${person.limits.length ? html`<ul class="limits">${person.limits.map((limit) => html`<${Limit} limit=${limit} />`)}</ul>` : html`<p class="faint">No limits are set for you.</p>`}</section>
    <section><h2>What is hidden from you</h2><${Hidden} hidden=${person.hidden} /></section>
    <section class="page-actions"><h2>This page</h2>
      <div class="actions"><${Button} icon=${dark.value ? "sun" : "moon"} hint="l" onClick=${switchTheme}>${dark.value ? "Light" : "Dark"}</${Button}>
        ${isSignedIn && html`<${SignOut} />`}</div></section>
  </div>`;
}

function Limit({ limit }) {
  const left = Math.max(0, limit.most - limit.used);
  return html`<li><span class="limit-name">${LIMITS[limit.name] ?? limit.name}</span><span>${formatNumber(left)} of ${formatNumber(limit.most)} left</span>
    <${Bar} share=${limit.most ? left / limit.most : 0} /><span class="faint">${limit.resets_in_s ? `full again in ${formatSpan(limit.resets_in_s)}` : ""}</span></li>`;
}

function Hidden({ hidden }) {
  if (!hidden.length) return html`<p class="faint">Nothing in the tables that you see. Tables that are hidden as a whole are not named.</p>`;
  return html`<p class="faint">These rules are part of your organisation’s policy and apply to every query. Tables that are hidden as a whole are not named.</p>
    <div class="scroll-x" tabindex="0" role="region" aria-label="Hidden rows and columns"><table class="facts"><thead><tr><th scope="col">Table</th><th scope="col">You see</th><th scope="col">Without</th></tr></thead>
    <tbody>${hidden.map((one) => html`<tr><th scope="row"><code><${Text} value=${one.table} /></code></th>
      <td>${one.rows ? html`rows where <${Sql} sql=${one.rows} inline=${true} />` : one.some_rows ? "some rows" : "all rows"}</td>
      <td>${one.columns.length ? html`<code><${Text} value=${one.columns.join(", ")} /></code>` : html`<span class="faint">–</span>`}${one.reason && html`<p class="faint"><${Text} value=${one.reason} /></p>`}</td></tr>`)}</tbody></table></div>
    <p class="faint">${count(hidden.length, "table")} with rules.</p>`;
}

function SignOut() {
  const [busy, setBusy] = useState(false);
  const run = (everywhere) => async () => {
    setBusy(true);
    if (!(await trySignOut(everywhere))) setBusy(false);
  };
  return html`<${Button} disabled=${busy} hint="Shift+Q" onClick=${run(false)}>Sign out</${Button}><${Button} disabled=${busy} onClick=${run(true)}>Sign out everywhere</${Button}>`;
}
