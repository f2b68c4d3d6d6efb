/** The conditions that the policy added to a query, each with the table whose rows it limits. */

import { html } from "../../vendor/preact.js";
import { me } from "../core/state.js";
import { Sql, Text } from "./text.js";

/** Texts and quoted names, in which nothing is replaced, or the name that the guard gives the table. */
const OWN_NAME = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\b_0\./g;

/** `hr.staff: _0."dept" = :dept` in parts; with the reader's own values where the account has them. */
function readPredicate(predicate, database) {
  const at = predicate.indexOf(": ");
  const table = predicate.slice(0, at);
  const known = me.value?.hidden.find((one) => one.database === database && one.table === table)?.rows;
  return { table, condition: known || predicate.slice(at + 2).replaceAll(OWN_NAME, (found) => (found === "_0." ? "" : found)) };
}

/** @param {{predicates: string[], database: string}} props */
export function Predicates({ predicates, database }) {
  return html`<ul>${predicates.map((one) => {
    const { table, condition } = readPredicate(one, database);
    return html`<li><code><${Text} value=${table} /></code>: only rows where <${Sql} sql=${condition} inline=${true} /></li>`;
  })}</ul>`;
}
