/** The sentence of an answer: the service's own, or one by rule where the rows were read again. */

import { buildFormat, exact, nameColumns, writeWords } from "../core/format.js";
import { count } from "../core/text.js";

const MOST_COLUMNS = 6;
const LONGEST_NAME = 60;
// The beginning of a sentence with one value, in the languages of `generation/conversation/sentences.yaml`.
const ANSWER = /^(Answer|Antwort|Réponse|Respuesta|Resposta|Risposta|答案|回答|الجواب)\s?[:：]\s?/;

const join = (words) => [words.slice(0, -1).join(", "), ...words.slice(-1)].filter(Boolean).join(" and ");

/** @param {{text: string, columns: object[], rows: unknown[][], truncated?: boolean}} answer */
export function writeSentence({ text, columns, rows, truncated }) {
  if (text) return text.replace(ANSWER, "");
  if (rows.length === 0) return "No rows.";
  if (rows.length === 1 && columns.length === 1) {
    const value = rows[0][0];
    return value === null ? "No value." : (buildFormat(columns[0], [value]).write(value) ?? exact(value));
  }
  const all = describeAll(columns, rows.length);
  return truncated ? `The first ${all}; there are more.` : `${all}.`;
}

/** What a query asks for, as a sentence. @param {string} description the service's words for it */
export const writeReading = (description) => (description.startsWith("shows ") ? `This ${description}` : description && `In words: ${description}`);

function describeAll(columns, total) {
  const names = nameColumns(columns).map(writeWords);
  const canName = names.length <= MOST_COLUMNS && names.every((name) => name.length <= LONGEST_NAME);
  return `${count(total, "row")}${canName ? ` with ${join(names)}` : ` of ${count(names.length, "column")}`}`;
}
