/**
 * What the page says of an answer in words: how far the attempts agree, how sure it is, its readings and its sentence,
 * the stages on the way to it and what became of each candidate.
 *
 * An attempt is one completion of the model. Candidates with the same result are a group, and `votes` of a candidate
 * are the attempts of its group.
 */

import { buildFormat, exact, formatAgo, formatPercent, nameColumns, writeWords } from "./core/format.js";
import { count } from "./core/text.js";

// -- attempts -------------------------------------------------------------------------------------

/** Whether results of the candidate are known, and were compared with others. */
const isCompared = (one) => one.rows !== null && one.group >= 0;

/**
 * @param {object} trace @param {object | undefined} chosen the candidate that is spoken of
 * @returns {{attempts: number, agreeing: number, other: number, otherResults: number, uncompared: number, without: number}}
 *   `agreeing` came to the chosen one's result, `other` to other results, `uncompared` to a result
 *   that took no part in the vote, `without` to none
 */
export function countAttempts({ candidates, samples }, chosen) {
  const votes = new Map(candidates.filter((one) => isCompared(one) && one.votes > 0).map((one) => [one.group, one.votes]));
  const agreeing = (chosen && votes.get(chosen.group)) || 0;
  if (chosen) votes.delete(chosen.group);
  const other = [...votes.values()].reduce((sum, each) => sum + each, 0);
  const uncompared = candidates.filter((one) => one.rows !== null && one.group < 0).reduce((sum, one) => sum + one.samples, 0);
  const without = Math.max(0, samples - agreeing - other - uncompared);
  return { attempts: samples, agreeing, other, otherResults: votes.size, uncompared, without };
}

/** What all attempts came to, in a sentence; empty where there were none. */
export function listResults({ attempts, agreeing, other, otherResults, uncompared, without }) {
  if (!attempts) return "";
  if (attempts === 1 && agreeing) return "There was only one attempt, so nothing could be compared.";
  if (agreeing === attempts) return `All ${attempts} attempts came to this result.`;
  const others = otherResults === 1 ? "another result" : `${otherResults} other results`;
  const parts = [
    `${agreeing || "None"} of ${count(attempts, "attempt")} came to this result`,
    other > 0 && `${other} came to ${others}`,
    uncompared > 0 && `${uncompared} gave a result that was not compared`,
    without > 0 && `${without} gave no result`,
  ];
  return `${parts.filter(Boolean).join("; ")}.`;
}

/** Which queries there are, in a sentence whose numbers add up to that of the candidates. */
export function describeOrigins({ candidates, samples }) {
  const number = (...origins) => candidates.filter((one) => origins.includes(one.origin)).length;
  const [written, derived, repaired] = [number("sample"), number("derived"), number("repair")];
  const parts = [
    samples > 0
      ? `The model was asked ${samples === 1 ? "once" : count(samples, "time")} and wrote ${count(written, "different query", "different queries")}`
      : `The model wrote ${count(written, "query", "queries")}`,
    derived > 0 && `${count(derived, "variation")} of what it wrote ${derived === 1 ? "was" : "were"} made by rule`,
    repaired > 0 && `repairing what failed gave ${count(repaired, "more query", "more queries")}`,
  ];
  return `${parts.filter(Boolean).join("; ")}.`;
}

// -- confidence -----------------------------------------------------------------------------------

const LEVELS = [
  [0.9, "Very likely right", 4],
  [0.7, "Probably right", 3],
  [0.45, "Uncertain", 2],
  [0, "Probably wrong", 1],
];

/** What an answer rests on that no vote chose; null: it was estimated. `isReadingChosen`: by the reader. */
function describeOrigin(answer, isReadingChosen) {
  const who = isReadingChosen ? "You" : "Whoever asked";
  if (isReadingChosen || answer.origin === "chosen") return { label: isReadingChosen ? "As you chose" : "As chosen", level: 0, summary: `${who} chose this reading of the question. How likely it is right was not estimated.` };
  if (answer.origin === "catalog") return { label: "From the catalog", level: 4, summary: "It was read from the description of the database. The model was not asked." };
  return answer.verified || answer.origin === "verified" ? { label: "Confirmed", level: 4, summary: describeGiven(answer), isGiven: true } : null;
}

/**
 * @param {object} answer @param {boolean} isReadingChosen whether the reader chose this reading
 * @returns {{label: string, level: number, summary: string} | null} `level` 0 (not estimated) to 4
 */
export function describeConfidence(answer, isReadingChosen) {
  const found = describeOrigin(answer, isReadingChosen);
  if (found || (answer.confidence ?? null) === null) return found;
  const [, label, level] = LEVELS.find(([least]) => answer.confidence >= least);
  const chosen = findChosen(answer);
  const agreement = chosen && listResults(countAttempts(answer.trace, chosen));
  const summary = agreement || (answer.quorum ? "Most of the attempts came to this result." : "Too few of the attempts came to this result.");
  return { label, level, summary: answer.quorum ? summary : `${summary} Check it before you rely on it.` };
}

/** Who gave the query, and when. */
export const describeGiven = ({ verified }) => (verified ? `${verified.label}.` : "A person gave this query as the right one for this question.");

/** The candidate whose result is shown; undefined where the process is not known. */
const findChosen = ({ trace, sql }) => trace?.candidates.find((one) => one.sql === sql) ?? trace?.candidates[0];

/** What the confidence rests on: sentences, the strongest first. */
export function listGrounds(answer, isReadingChosen) {
  const found = describeOrigin(answer, isReadingChosen);
  if (found) return ["Nothing was estimated. The query was checked and run like any other.", ...(found.isGiven ? ["If it is wrong, say so: then it does not answer this question any more."] : [])];
  const grounds = [`Estimated: ${formatPercent(answer.confidence)} of answers that look like this one are right.`];
  if (answer.given_at) grounds.push(`That was when it was asked, ${formatAgo(answer.given_at)}. The rows were read again now.`);
  const { trace } = answer;
  const chosen = findChosen(answer);
  if (chosen) {
    if (chosen.origin === "repair") grounds.push("The query failed at first and was repaired.");
    if (chosen.origin === "derived") grounds.push("The query is a variation, made by rule, of one that the model wrote.");
    const errors = chosen.findings.filter((one) => one.severity === "error").length;
    if (errors) grounds.push(`A check of the query found ${count(errors, "likely mistake")}; “Why this answer” names it.`);
    else grounds.push("The checks of the query found no likely mistake.");
    if (trace.ended_early) grounds.push("Time ran out before all attempts were made.");
  } else {
    grounds.push(answer.quorum ? "More than half of the attempts came to this result." : "Not more than half of the attempts came to this result, or there was only one.");
  }
  return grounds;
}

// -- readings -------------------------------------------------------------------------------------

const VERY_UNSURE = 0.1;
const UNSURE = "I am not sure enough to answer.";

/** The sentence above the readings, and the heading of the list; empty: none. */
export function askBack({ interpretations, confidence }) {
  if (interpretations.length < 2) return { sentence: UNSURE, heading: interpretations.length ? "The nearest reading found" : "" };
  if (confidence < VERY_UNSURE) return { sentence: `${UNSURE} Do you mean one of these?`, heading: "" };
  return { sentence: "I am not sure. Which of these do you mean?", heading: "" };
}

/** What speaks for a reading, in words. @param {{share: number}[]} readings in their order @param {number} at */
export function describeSupport(readings, at) {
  const { share } = readings[at];
  if (share > 0) return `${formatPercent(share)} of the attempts`;
  const isAhead = readings.slice(at + 1).some((other) => other.share > 0);
  return `A variation of what was written.${isAhead ? " Ranked first by the checks." : ""}`;
}

// -- sentence -------------------------------------------------------------------------------------

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

// -- stages ---------------------------------------------------------------------------------------

const STAGES = {
  wait: ["Waiting for a turn", "Waited for a turn"],
  rewrite: ["Reading the conversation", "Read the conversation"],
  retrieve: ["Finding the tables", "Found the tables"],
  gate: ["Checking that the data can answer this", "Checked that the data can answer this"],
  draft: ["Drafting a first query", "Drafted a first query"],
  plan: ["Matching words with columns and values", "Matched words with columns and values"],
  generate: ["Writing queries", "Wrote queries"],
  guard: ["Applying what you may see", "Applied what you may see"],
  assess: ["Checking the queries before they run", "Checked the queries before they ran"],
  vote: ["Running them and comparing results", "Ran them and compared results"],
  repair: ["Repairing queries that failed", "Repaired queries that failed"],
  derive: ["Trying variations", "Tried variations"],
  execute: ["Reading the rows", "Read the rows"],
  words: ["Putting the answer into words", "Put the answer into words"],
};

/** A stage in words: while it runs, or once it is done. */
export function nameStage(stage, isDone) {
  return STAGES[stage]?.[isDone ? 1 : 0] ?? stage;
}

// -- verdicts -------------------------------------------------------------------------------------

/** "A" to "Z", then "AA" and on. */
const writeLetter = (number) => (number < 26 ? "" : writeLetter(Math.floor(number / 26) - 1)) + String.fromCharCode(65 + (number % 26));

/**
 * The letter of each candidate's result: A for the chosen one's, then as they come. A query that did not run
 * has the letter of the result to which its plan leads; one whose result is not known has none.
 * @returns {(one: object) => string}
 */
export function nameResults(candidates, chosen) {
  const known = [chosen, ...candidates].filter((one) => one && one.group >= 0 && one.rows !== null).map((one) => one.group);
  const order = [...new Set(known)];
  return (one) => (one.group >= 0 && order.includes(one.group) ? writeLetter(order.indexOf(one.group)) : "");
}

/** The heading of a candidate. @param {object} one @param {string} letter of its result, or empty */
export function nameVerdict(one, letter) {
  if (one.guard === "refused") return one.violation?.code === "not_permitted" ? "Not permitted" : "Refused by the safety check";
  if (letter) return one.rows === null ? `Would give result ${letter}: the plan is the same` : `Result ${letter}`;
  if (one.rows !== null) return "A result that was not compared";
  if (one.error) return "Failed in the database";
  return one.unrun ? "Not run" : "No result";
}
