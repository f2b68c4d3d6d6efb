/** Names of columns for somebody who reads them: words instead of identifiers. */

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}\p{M}_$]*$/u;

/** The names of columns as they are shown: the service's headings. @param {{name: string, heading?: string}[]} columns @returns {string[]} */
export const nameColumns = (columns) => columns.map(({ name, heading }) => heading || name);

/** An identifier in words: "total_revenue" → "total revenue", "netAmount" → "net amount"; any other text as it is. */
export function writeWords(name) {
  if (!IDENTIFIER.test(name)) return name;
  const words = name.replace(/([\p{Ll}\p{N}])(\p{Lu}\p{Ll})/gu, (_, end, start) => `${end} ${start.toLowerCase()}`).replace(/_+/g, " ").trim();
  return words || name;
}

/** Words with a capital letter at the beginning, as in a heading. */
export const startLarge = (words) => words.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
