/** What is asked where the confidence is too low to answer, and in which order the readings stand. */

import { formatPercent } from "../core/format.js";

const VERY_UNSURE = 0.1;
const UNSURE = "I am not sure enough to answer.";

/** The sentence above the readings, and the heading of the list; empty: none. */
export function askBack({ interpretations, confidence }) {
  if (interpretations.length < 2) return { sentence: UNSURE, heading: interpretations.length ? "The nearest reading found" : "" };
  if (confidence < VERY_UNSURE) return { sentence: `${UNSURE} Do you mean one of these?`, heading: "" };
  return { sentence: "I am not sure. Which of these do you mean?", heading: "" };
}

/**
 * The readings as they are listed. Readings that attempts came to stand before variations of them, unless the
 * trace says that the checks gave the variation more weight.
 * @param {{sql: string, share: number}[]} interpretations best first @param {object|null} trace
 */
export function orderReadings(interpretations, trace) {
  const weigh = (one) => (one.sql && trace?.candidates.find((candidate) => candidate.sql === one.sql)?.weight) || 0;
  const most = Math.max(0, ...interpretations.filter((one) => one.share > 0).map(weigh));
  const isFirst = (one) => one.share > 0 || weigh(one) > most;
  return [...interpretations.filter(isFirst), ...interpretations.filter((one) => !isFirst(one))];
}

/** What speaks for a reading, in words. @param {{share: number}[]} readings in their order @param {number} at */
export function describeSupport(readings, at) {
  const { share } = readings[at];
  if (share > 0) return `${formatPercent(share)} of the attempts`;
  const isAhead = readings.slice(at + 1).some((other) => other.share > 0);
  return `A variation of what was written.${isAhead ? " Ranked first by the checks." : ""}`;
}
