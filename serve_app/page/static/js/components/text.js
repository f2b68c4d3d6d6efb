/** Texts from the service as elements: isolated, in their own direction, invisible characters marked. */

import { html, useMemo } from "../../vendor/preact.js";
import { splitMarks } from "../core/text.js";
import { breakLines, readTokens } from "../sql/tokens.js";

function renderMarks(value, block) {
  return splitMarks(value, block).map((piece) =>
    typeof piece === "string"
      ? piece
      : html`<span class="mark" title="A character that cannot be seen">${piece.code}</span>`);
}

/** A text of the service in a line. */
export function Text({ value }) {
  return html`<bdi dir="auto">${renderMarks(value)}</bdi>`;
}

/** A text of several lines. */
export function Block({ value, label }) {
  return html`<pre class="block" dir="auto" tabindex="0" role="region" aria-label=${label}>${renderMarks(value, true)}</pre>`;
}

/** Text with backticks around names, such as the reasons that the service gives. */
export function Prose({ value }) {
  const pieces = String(value ?? "").split("`");
  if (pieces.length % 2 === 0) return html`<${Text} value=${value} />`;
  return html`<bdi dir="auto">${pieces.map((piece, at) => (at % 2 ? html`<code>${renderMarks(piece)}</code>` : renderMarks(piece)))}</bdi>`;
}

/**
 * A query in colours.
 * @param {{sql: string, label?: string, inline?: boolean}} props
 */
export function Sql({ sql, label = "SQL", inline = false }) {
  const pieces = useMemo(() => {
    const tokens = readTokens(sql ?? "");
    return (inline ? tokens : breakLines(tokens)).map((token) => {
      const text = renderMarks(token.text, true);
      const kind = token.kind === "space" || token.kind === "sign" || token.kind === "name" ? "" : `sql-${token.kind}`;
      return kind ? html`<span class=${kind}>${text}</span>` : text;
    });
  }, [sql, inline]);
  if (inline) return html`<code class="sql" dir="ltr">${pieces}</code>`;
  return html`<pre class="sql" dir="ltr" tabindex="0" role="region" aria-label=${label}>${pieces}</pre>`;
}

/**
 * The conditions that the policy added to a query, each with the table whose rows it limits.
 * @param {{predicates: string[]}} props each `table: condition`, or the table alone where that is not shown
 */
export function Predicates({ predicates }) {
  return html`<ul>${predicates.map((one) => {
    const [table, ...condition] = one.split(": ");
    return html`<li><code><${Text} value=${table} /></code>: only ${condition.length > 0 ? html`rows where <${Sql} sql=${condition.join(": ")} inline=${true} />` : "some rows"}</li>`;
  })}</ul>`;
}

/** That the policy added conditions to a query that was run again. */
export function PolicyNote({ predicates }) {
  return html`<div class="policy-note"><p>Conditions that were added for what you may see:</p><${Predicates} predicates=${predicates} /></div>`;
}
