/**
 * What became of the attempts at a question: counted here only, so that all that is said of them agrees.
 *
 * An attempt is one completion of the model. Candidates with the same result are a group, and `votes`
 * of a candidate are the attempts of its group.
 */

import { count } from "../core/text.js";

/** Whether results of the candidate are known, and were compared with others. */
const isCompared = (one) => one.rows !== null && one.group >= 0;

/**
 * @param {object} trace @param {object | undefined} chosen the candidate that is spoken of
 * @returns {{attempts: number, agreeing: number, other: number, otherResults: number, uncompared: number, without: number,
 *   isMost: boolean}} `agreeing` came to the chosen one's result, `other` to other results, `uncompared` to a result
 *   that took no part in the vote, `without` to none
 */
export function countAttempts({ candidates, samples }, chosen) {
  const votes = new Map(candidates.filter((one) => isCompared(one) && one.votes > 0).map((one) => [one.group, one.votes]));
  const agreeing = (chosen && votes.get(chosen.group)) || 0;
  if (chosen) votes.delete(chosen.group);
  const other = [...votes.values()].reduce((sum, each) => sum + each, 0);
  const uncompared = candidates.filter((one) => one.rows !== null && one.group < 0).reduce((sum, one) => sum + one.samples, 0);
  const without = Math.max(0, samples - agreeing - other - uncompared);
  return { attempts: samples, agreeing, other, otherResults: votes.size, uncompared, without, isMost: agreeing >= 2 && agreeing * 2 > samples };
}

/** How far the attempts agree, in a sentence; empty where there were none. `origin` of the chosen candidate. */
export function describeAgreement({ attempts, agreeing, other, uncompared, isMost }, origin) {
  if (!attempts) return "";
  if (!agreeing) return origin === "repair" ? "No attempt came to this result; it is that of a repaired query." : "No attempt came to this result; it is that of a variation.";
  if (attempts === 1) return "There was only one attempt, so nothing could be compared.";
  if (agreeing === attempts) return `All ${attempts} attempts came to this result.`;
  if (isMost) return `Most attempts came to this result: ${agreeing} of ${attempts}.`;
  if (other) return `The attempts did not agree on one result: ${agreeing} of ${attempts} came to this one.`;
  const what = uncompared ? "a result that could be compared" : "a result";
  return `Only ${agreeing} of ${count(attempts, "attempt")} gave ${what}${agreeing > 1 ? ", the same one each time" : ""}.`;
}

/** What all attempts came to, in a sentence; empty where there were none. */
export function listResults({ attempts, agreeing, other, otherResults, uncompared, without }) {
  if (!attempts) return "";
  if (agreeing === attempts) return attempts === 1 ? "The one attempt came to this result." : `All ${attempts} attempts came to this result.`;
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
