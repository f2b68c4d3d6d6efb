/** The conditions that the policy added to a query, each with the table whose rows it limits. */

import { html } from "../../vendor/preact.js";
import { Sql, Text } from "./text.js";

/** @param {{predicates: string[]}} props each `table: condition`, or the table alone where that is not shown */
export function Predicates({ predicates }) {
  return html`<ul>${predicates.map((one) => {
    const [table, ...condition] = one.split(": ");
    return html`<li><code><${Text} value=${table} /></code>: only ${condition.length > 0 ? html`rows where <${Sql} sql=${condition.join(": ")} inline=${true} />` : "some rows"}</li>`;
  })}</ul>`;
}
