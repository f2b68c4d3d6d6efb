/** Names of columns for somebody who reads them: what has none, and words instead of identifiers. */

const NAMELESS = new Set(["", "?column?"]);
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}\p{M}_$]*$/u;

/** Whether the query gave the column no name. */
export const isNameless = ({ name }) => NAMELESS.has(name);

/**
 * The names of columns as they are shown. A column without one (PostgreSQL: "?column?") is called
 * "Value", or by its place where there are several.
 * @param {{name: string}[]} columns @returns {string[]}
 */
export function nameColumns(columns) {
  const isOne = columns.filter(isNameless).length === 1;
  return columns.map((column, at) => (isNameless(column) ? (isOne ? "Value" : `Column ${at + 1}`) : nameCall(column.name)));
}

const CALL = /^(count|sum|avg|min|max|total|count_star)\(\s*(?:distinct\s+)?(\*|(?:\w+\.|"[^"]+"\.)*(?:\w+|"[^"]+"))?\s*\)$/i;
const SAID = { count: "count", count_star: "count", sum: "sum", total: "sum", avg: "average", min: "lowest", max: "highest" };

/** SQLite and DuckDB call a column without a name by its expression: COUNT(*) → "count" (`nl2sql/results/headings.py`). */
function nameCall(name) {
  const call = CALL.exec(name.trim());
  if (!call) return name;
  const said = SAID[call[1].toLowerCase()];
  const what = (call[2] ?? "*").replace(/^.*\.(?=[^.]+$)/, "").replaceAll('"', "");
  return what === "*" ? said : `${said}${/^(count|sum)$/.test(said) ? " of" : ""} ${what}`;
}

/** An identifier in words: "total_revenue" → "total revenue", "netAmount" → "net amount"; any other text as it is. */
export function writeWords(name) {
  if (!IDENTIFIER.test(name)) return name;
  const words = name.replace(/([\p{Ll}\p{N}])(\p{Lu}\p{Ll})/gu, (_, end, start) => `${end} ${start.toLowerCase()}`).replace(/_+/g, " ").trim();
  return words || name;
}

/** Words with a capital letter at the beginning, as in a heading. */
export const startLarge = (words) => words.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
