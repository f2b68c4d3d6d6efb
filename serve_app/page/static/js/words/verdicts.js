/** What became of a candidate, in a few words. */

const UNKNOWN = "Names something that does not exist";
const UNTRACED = "Names something that cannot be traced";
const UNPROVEN = "Cannot be shown to be safe";
const TOO_MUCH = "Asks for too much";

/** By the guard's codes. */
const VIOLATIONS = {
  not_permitted: "Not permitted",
  unknown_column: UNKNOWN,
  unknown_table: UNKNOWN,
  unexplained_column: UNTRACED,
  unexplained_table: UNTRACED,
  not_a_query: "Not a reading query",
  multiple_statements: "More than one statement",
  unparsable: "Not valid SQL",
  reads_differently: UNPROVEN,
  unresolved: "Cannot be understood",
  tables_disagree: UNPROVEN,
  unfiltered_table: UNPROVEN,
  function_not_allowed: "Uses a function that is not allowed",
  operator_not_allowed: "Uses an operator that is not allowed",
  type_not_allowed: "Uses a type that is not allowed",
  node_not_allowed: "Uses SQL that is not allowed",
  endless_recursion: TOO_MUCH,
  too_many_columns: TOO_MUCH,
  too_many_rows: TOO_MUCH,
  too_much_text: TOO_MUCH,
  too_long: "Too long",
};

/** Why the guard refused a query. */
export function nameViolation(code) {
  return VIOLATIONS[code] ?? "Refused by the safety check";
}

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
  if (one.guard === "refused") return nameViolation(one.violation?.code);
  if (letter) return one.rows === null ? `Would give result ${letter}: the plan is the same` : `Result ${letter}`;
  if (one.rows !== null) return "A result that was not compared";
  if (one.error) return "Failed in the database";
  return one.unrun ? "Not run" : "No result";
}
