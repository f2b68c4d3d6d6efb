/** Sorting, filtering and measuring the rows of a table; knows nothing of the page. */

import { exact, sortKey } from "../core/format.js";

/** @typedef {{at: number, descending: boolean} | null} Sort */

/**
 * The numbers of the rows in the order of a column; empty values last, either way.
 * @param {unknown[][]} rows @param {number[]} order numbers of rows @param {Sort} sort
 */
export function sortRows(rows, order, sort, kind) {
  if (!sort) return order;
  const keys = new Map(order.map((at) => [at, sortKey(kind, rows[at][sort.at])]));
  const collator = new Intl.Collator(undefined, { numeric: true });
  const compare = kind === "text" || kind === "json" ? collator.compare : (a, b) => a - b;
  const sign = sort.descending ? -1 : 1;
  return [...order].sort((a, b) => {
    const [one, two] = [keys.get(a), keys.get(b)];
    if (one === null || two === null) return (one === null) - (two === null) || a - b;
    return sign * compare(one, two) || a - b;
  });
}

/** Builds a filter of rows by text: in all columns, or in one; as written exactly or as shown. */
export function buildFilter(rows, formats) {
  const texts = new Map();
  const read = (row, at) => {
    const key = at < 0 ? row : row * formats.length + at + rows.length;
    let text = texts.get(key);
    if (text === undefined) {
      const cells = at < 0 ? rows[row].map((value, column) => [value, formats[column]]) : [[rows[row][at], formats[at]]];
      text = cells.map(([value, format]) => (value === null ? "" : both(value, format))).join("\u001f").toLowerCase();
      texts.set(key, text);
    }
    return text;
  };
  return (text, at) => {
    const wanted = text.trim().toLowerCase();
    const all = rows.map((_, row) => row);
    return wanted ? all.filter((row) => read(row, at).includes(wanted)) : all;
  };
}

function both(value, format) {
  const text = exact(value);
  return format.kind === "text" ? text : `${text}\u001f${format.write(value)}`;
}

const LEAST_PX = 72;
const MOST_PX = 380;

/** Widths of the columns in pixels, from their names and a sample of their cells. */
export function measureWidths(columns, rows, formats) {
  const sample = rows.length > 200 ? rows.filter((_, at) => at % Math.ceil(rows.length / 200) === 0) : rows;
  return columns.map((column, at) => {
    const cells = sample.map((row) => (row[at] === null ? 1 : countWide(formats[at].write(row[at]))));
    const longest = Math.max(countWide(column.name) * 1.02 + 3.4, ...cells);
    return Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, longest * 7.9 + 32)));
  });
}

/** Characters of a text, where those of CJK count twice. */
function countWide(text) {
  let wide = 0;
  for (const character of String(text).slice(0, 80)) wide += character.codePointAt(0) > 0x2e80 ? 2 : 1;
  return wide;
}
