/** The confidence of an answer in plain words, and what it rests on. */

import { formatAgo, formatDay, formatPercent } from "../core/format.js";
import { count } from "../core/text.js";
import { countAttempts, describeAgreement, listResults } from "./attempts.js";

const LEVELS = [
  [0.9, "Very likely right", 4],
  [0.7, "Probably right", 3],
  [0.45, "Uncertain", 2],
  [0, "Probably wrong", 1],
];

/**
 * @param {object} answer @param {boolean} isReadingChosen whether the reader chose this reading
 * @returns {{label: string, level: number, summary: string} | null} `level` 0 (not estimated) to 4
 */
export function describeConfidence(answer, isReadingChosen) {
  if (isReadingChosen) return { label: "As you chose", level: 0, summary: "You chose this reading of the question. How likely it is right was not estimated." };
  if (answer.origin === "chosen") return { label: "As chosen", level: 0, summary: "Whoever asked chose this reading of the question. How likely it is right was not estimated." };
  if (answer.origin === "catalog") return { label: "From the catalog", level: 4, summary: "It was read from the description of the database. The model was not asked." };
  if (isGiven(answer)) return { label: "Confirmed", level: 4, summary: describeGiven(answer) };
  if (answer.confidence === null || answer.confidence === undefined) return null;
  const [, label, level] = LEVELS.find(([least]) => answer.confidence >= least);
  const chosen = findChosen(answer);
  const agreement = chosen && describeAgreement(countAttempts(answer.trace, chosen), chosen.origin);
  const summary = agreement || (answer.quorum ? "Most of the attempts came to this result." : "Too few of the attempts came to this result.");
  return { label, level, summary: answer.quorum ? summary : `${summary} Check it before you rely on it.` };
}

/** Whether a person gave the query as the right one for the question. */
const isGiven = (answer) => Boolean(answer.verified) || answer.origin === "verified";

/** Who gave the query, and when. */
export function describeGiven({ verified }) {
  if (!verified) return "A person gave this query as the right one for this question.";
  if (verified.source !== "feedback") return "It is one of the questions whose queries were checked and imported for everybody.";
  return `${verified.by} gave this query as the right one for this question on ${formatDay(verified.at)}.`;
}

/** The candidate whose result is shown; undefined where the process is not known. */
const findChosen = ({ trace, sql }) => trace?.candidates.find((one) => one.sql === sql) ?? trace?.candidates[0];

/** What the confidence rests on: sentences, the strongest first. */
export function listGrounds(answer, isReadingChosen) {
  if (isReadingChosen) return ["You chose this reading, so nothing was estimated. The query was checked and run like any other."];
  if (answer.origin === "chosen") return ["The reading was chosen, so nothing was estimated. The query was checked and run like any other."];
  if (answer.origin === "catalog") return ["The model was not asked, and nothing was estimated. The query was checked and run like any other."];
  if (isGiven(answer)) {
    return [
      "The model was not asked, and nothing was estimated. The query was checked and run like any other.",
      "If it is wrong, say so: then it does not answer this question any more.",
    ];
  }
  const grounds = [`Estimated: ${formatPercent(answer.confidence)} of answers that look like this one are right.`];
  if (answer.given_at) grounds.push(`That was when it was asked, ${formatAgo(answer.given_at)}. The rows were read again now.`);
  const { trace } = answer;
  const chosen = findChosen(answer);
  const results = chosen && listResults(countAttempts(trace, chosen));
  if (chosen) {
    if (results) grounds.push(results);
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
