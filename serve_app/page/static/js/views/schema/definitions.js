/** What was agreed on: measures, dimensions and filters of the semantic layer. */

import { html } from "../../../vendor/preact.js";
import { useLoaded } from "../../core/loading.js";
import { Loading } from "../../components/notices.js";
import { Sql, Text } from "../../components/text.js";

const KINDS = [["measures", "Measures", "Figures"], ["dimensions", "Dimensions", "What figures are divided by"], ["filters", "Filters", "Which rows count"]];

export function Definitions({ base }) {
  const loaded = useLoaded(`${base}/definitions`);
  if (!loaded.data) return html`<${Loading} state=${loaded} retry=${loaded.retry} />`;
  const isEmpty = KINDS.every(([key]) => !loaded.data[key]?.length);
  return html`<article class="definitions"><h2 tabindex="-1">Agreed definitions</h2>
    <p class="lead">Words that have one meaning here. A question that uses one of them is answered by its definition.</p>
    ${isEmpty && html`<p>Nothing is defined for this database yet.</p>`}
    ${KINDS.map(([key, title, note]) => loaded.data[key]?.length > 0 && html`<section><h3>${title} <span class="faint">${note}</span></h3>
      <dl>${loaded.data[key].map((one) => html`<div class="definition"><dt><${Text} value=${one.name} /></dt><dd>
        ${one.description && html`<p><${Text} value=${one.description} /></p>`}
        <p>${one.expression && html`<${Sql} sql=${one.expression} inline=${true} />`}${one.expression && one.condition && html` <span class="faint">where</span> `}${one.condition && html`<${Sql} sql=${one.condition} inline=${true} />`}</p>
        ${one.synonyms?.length > 0 && html`<p class="faint">Also called <${Text} value=${one.synonyms.join(", ")} /></p>`}
        ${one.tables.length > 0 && html`<p class="faint">Reads <${Text} value=${one.tables.join(", ")} /></p>`}</dd></div>`)}</dl></section>`)}
  </article>`;
}
