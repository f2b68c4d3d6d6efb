/** What was agreed on: measures, dimensions and filters of the semantic layer. */

import { html, useEffect, useRef } from "../../../vendor/preact.js";
import { useLoaded } from "../../core/loading.js";
import { href } from "../../core/router.js";
import { count } from "../../core/text.js";
import { Loading } from "../../components/notices.js";
import { Sql, Text } from "../../components/text.js";

const KINDS = [["measures", "Measures", "Figures", "measure"], ["dimensions", "Dimensions", "What figures are divided by", "dimension"], ["filters", "Filters", "Which rows count", "filter"]];
const MOST_FOUND = 20;

/** @param {{base: string, chosen: string[]}} props `chosen`: kind and name of the one to show, or empty */
export function Definitions({ base, chosen }) {
  const loaded = useLoaded(`${base}/definitions`);
  const [chosenKind, chosenName] = chosen;
  const target = useRef(null);
  useEffect(() => {
    if (!loaded.data || !target.current) return;
    target.current.scrollIntoView({ block: "center" });
    target.current.focus({ preventScroll: true });
  }, [loaded.data, chosenKind, chosenName]);
  if (!loaded.data) return html`<${Loading} state=${loaded} retry=${loaded.retry} />`;
  const isEmpty = KINDS.every(([key]) => !loaded.data[key]?.length);
  const render = (key, one) => {
    const isChosen = key === chosenKind && one.name === chosenName;
    return html`<div class=${`definition ${isChosen ? "chosen" : ""}`} key=${one.name}><dt tabindex="-1" ref=${isChosen ? target : undefined}><${Text} value=${one.name} /></dt><dd>
        ${one.description && html`<p><${Text} value=${one.description} /></p>`}
        <p>${one.expression && html`<${Sql} sql=${one.expression} inline=${true} />`}${one.expression && one.condition && html` <span class="faint">where</span> `}${one.condition && html`<${Sql} sql=${one.condition} inline=${true} />`}</p>
        ${one.synonyms?.length > 0 && html`<p class="faint">Also called <${Text} value=${one.synonyms.join(", ")} /></p>`}
        ${one.tables.length > 0 && html`<p class="faint">Reads <${Text} value=${one.tables.join(", ")} /></p>`}</dd></div>`;
  };
  return html`<article class="definitions"><h2 tabindex="-1">Agreed definitions</h2>
    <p class="lead">Words that have one meaning here. A question that uses one of them is answered by its definition.</p>
    ${isEmpty && html`<p>Nothing is defined for this database yet.</p>`}
    ${KINDS.map(([key, title, note]) => loaded.data[key]?.length > 0 && html`<section><h3>${title} <span class="faint">${note}</span></h3>
      <dl>${loaded.data[key].map((one) => render(key, one))}</dl></section>`)}
  </article>`;
}

/** The definitions in which all words of the search occur, in any text that the reader is sent. */
function findDefinitions(data, search) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (one) => {
    const text = [one.name, one.description, one.expression, one.condition, ...(one.synonyms ?? [])].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return KINDS.flatMap(([key, , , kind]) => (data[key] ?? []).filter(matches).map((one) => ({ key, kind, one })));
}

/** The definitions that a search finds, above the tables; nothing where none is found. */
export function FoundDefinitions({ base, name, search, chosen }) {
  const path = `${base}/definitions`;
  const loaded = useLoaded(path);
  // What is there may still be of the database of before.
  if (loaded.path !== path) return loaded.problem ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : null;
  const found = findDefinitions(loaded.data, search);
  if (!found.length) return null;
  return html`<p class="faint list-count" role="status">${count(found.length, "definition")} found</p>
    <ul class="found-definitions" aria-label="Definitions">${found.slice(0, MOST_FOUND).map(({ key, kind, one }) => {
      const isCurrent = key === chosen[0] && one.name === chosen[1];
      return html`<li key=${`${key} ${one.name}`}><a class=${`row-link ${isCurrent ? "current" : ""}`} aria-current=${isCurrent ? "page" : undefined} href=${href("schema", name, ":definitions", key, one.name)}>
        <span class="table-name"><${Text} value=${one.name} /></span><span class="tag">definition: ${kind}</span>
        ${(one.description || one.synonyms?.length > 0) && html`<span class="faint table-about"><${Text} value=${one.description || one.synonyms.join(", ")} /></span>`}</a></li>`;
    })}</ul>
    ${found.length > MOST_FOUND && html`<p class="faint list-count">${found.length - MOST_FOUND} more are under Agreed definitions.</p>`}`;
}
