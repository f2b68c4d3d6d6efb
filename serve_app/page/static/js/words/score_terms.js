/** The terms of a score in words. Their reference is docs/reference/lint-and-score.md. */

const TERMS = {
  base: "Every query starts with this",
  explain_fails: "The database cannot run it",
  repaired: "Was mended after a failure",
  derived: "Is a variation of another query",
  schema_adherence: "Reads the tables that were found",
  join_match: "Joins the tables as planned",
  tables_added: "Reads more tables than one",
  columns_unnamed: "Returns columns that the question does not name",
  required_tables_unread: "Leaves out a required table",
  tables_unnamed: "Reads tables that the question does not name",
  outputs_unasked: "Shows something that was not asked for",
  words_unused: "Words of the question have no counterpart",
  flags_unsaid: "Tests a flag that was not asked for",
  keys_compared: "Compares a key with a number",
  figures_misplaced: "A number stands at another column",
  rounding_missing: "Does not round",
  nulls_first: "Empty values come first",
  tables_missed: "Misses a table that the question names",
  links_missed: "Misses a column that the question names",
  values_misplaced: "Compares a known value with another column",
  literals_unsaid: "Contains values that nobody mentioned",
  numbers_missing: "Misses a number of the question",
  columns_differ: "Shows more or fewer columns than asked",
  group_by_matches: "Gives one row for each, as asked",
  group_by_missing: "Does not give one row for each",
  order_and_limit_match: "Takes the first or last, as asked",
  best_missing: "Does not take the first or last",
  limit_differs: "Takes another number of rows",
  order_missing: "Does not sort",
  count_missing: "Does not count",
  average_missing: "Does not average",
  negation_missing: "Misses the “not” of the question",
  distinct_missing: "Counts repetitions too",
  comparison_differs: "Compares in another direction",
  pattern_missing: "Does not search inside texts",
  direction_differs: "Sorts the other way",
  extreme_missing: "Misses a lowest or highest value",
  limit_unasked: "Cuts off rows without being asked",
  best_by_key: "Takes the first by a key",
  both_missing: "Means “or” where the question says “both”",
  distinct_unasked: "Drops repetitions without being asked",
  definition_used: "Uses the agreed definition",
  values_unknown: "Searches for a value that no row contains",
  no_rows: "Finds nothing",
  nulls_only: "Finds only empty values",
  zeros_only: "Finds only zeros",
  repeated_rows: "Repeats rows",
  width_differs: "Result has more or fewer columns than asked",
  rows_differ: "Result has another number of rows than asked",
  several_best: "Several rows where one was asked for",
  one_number_differs: "Not one number, as asked",
};

/** A term in words: "lint:unused_join" → "Check: unused join". */
export function nameTerm(term) {
  if (TERMS[term]) return TERMS[term];
  const words = term.replaceAll("_", " ");
  if (words.startsWith("lint:")) return `Check: ${words.slice(5)}`;
  return words.startsWith("derived:") ? `Variation: ${words.slice(8)}` : words;
}
