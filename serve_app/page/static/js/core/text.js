/**
 * Text from the service, shown as what it is.
 *
 * Characters that cannot be seen or that reorder others (controls, bidi controls, zero-width
 * characters, lone surrogates) are replaced by visible marks. Nothing here makes markup or links.
 */

// Joiners are part of the spelling of Persian, of Indic scripts and of emoji; beside ASCII they hide.
const INVISIBLE =
  "[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F" +
  "\\u200B\\u200E\\u200F\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF9-\\uFFFB" +
  "\\u{E0000}-\\u{E0FFF}]|\\p{Cs}|(?<=^|[\\x00-\\x7F])[\\u200C\\u200D]|[\\u200C\\u200D](?=$|[\\x00-\\x7F])";
const IN_BLOCKS = new RegExp(INVISIBLE, "gu");
const IN_LINES = new RegExp(`[\\t\\n]|${INVISIBLE}`, "gu");

/** A piece that is shown as a mark: its code, such as U+202E. @typedef {{code: string}} Mark */

/**
 * Splits a text into strings and marks.
 * @param {unknown} value any value; made a string
 * @param {boolean} [block] whether tabs and line ends are shown as they are (in <pre>)
 * @returns {(string | Mark)[]}
 */
export function splitMarks(value, block = false) {
  const text = String(value ?? "");
  const pattern = block ? IN_BLOCKS : IN_LINES;
  if (text.search(pattern) < 0) return [text];
  const pieces = [];
  let position = 0;
  for (const found of text.matchAll(pattern)) {
    if (found.index > position) pieces.push(text.slice(position, found.index));
    pieces.push({ code: `U+${found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` });
    position = found.index + found[0].length;
  }
  if (position < text.length) pieces.push(text.slice(position));
  return pieces;
}

/** The text for a place that holds no elements (title, label, option): marks in ⟨⟩. */
export function plain(value) {
  return splitMarks(value)
    .map((piece) => (typeof piece === "string" ? piece : `⟨${piece.code}⟩`))
    .join("");
}

/** The text without characters that cannot be seen, for a field that will be sent. */
export function clean(value) {
  return splitMarks(value, true)
    .filter((piece) => typeof piece === "string")
    .join("");
}

/** `one` or `many` after a count: `count(1, "row")` is "1 row". */
export function count(number, one, many = `${one}s`) {
  return `${new Intl.NumberFormat().format(number)} ${number === 1 ? one : many}`;
}
