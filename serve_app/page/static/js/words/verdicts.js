/** What became of a candidate, in a few words. */

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
