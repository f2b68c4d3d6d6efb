/** The planned path of joins as a small graph, and its alternatives. */

import { html } from "../../../vendor/preact.js";
import { Graph, readSkeleton } from "../../components/graph.js";
import { Sql, Text } from "../../components/text.js";

export function Joins({ trace }) {
  const { nodes, edges } = readSkeleton(trace.join_skeleton);
  if (!nodes.length) return html`<p>No join was planned for this question.</p>`;
  return html`<div class="joins">
    <${Graph} nodes=${nodes.map((node, at) => ({ ...node, isMain: at === 0 }))} edges=${edges} label="Tables and how they are joined" />
    <ul class="join-list">${edges.map((edge) => html`<li><${Sql} sql=${edge.label} inline=${true} /></li>`)}${edges.length === 0 && html`<li>One table: <code><${Text} value=${nodes[0].id} /></code></li>`}</ul>
    ${trace.inferred_joins.length > 0 && html`<p>Inferred from names and values, as the database declares no key: <${Text} value=${trace.inferred_joins.join("; ")} /></p>`}
    ${trace.join_alternatives.length > 0 && html`<details><summary>Other paths that were considered (${trace.join_alternatives.length})</summary>${trace.join_alternatives.map((path) => html`<${Sql} sql=${path} label="Another path" />`)}</details>`}
  </div>`;
}
