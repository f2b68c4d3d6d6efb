/** Sorting, filtering and measuring the rows of a table; knows nothing of the page. */

import { exact, sortKey } from "../core/format.js";

/** @typedef {{at: number, descending: boolean} | null} Sort */

/**
 * The numbers of the rows in the order of a column; empty values last, either way.
 * @param {unknown[][]} rows @param {number[]} order numbers of rows @param {Sort} sort
 */
export function sortRows(rows, order, sort, kind) {
  if (!sort) return order;
  const ranks = rankRows(rows, order, sort.at, kind);
  const sign = sort.descending ? -1 : 1;
  return [...order].sort((a, b) => {
    if (ranks[a] < 0 || ranks[b] < 0) return Number(ranks[a] < 0) - Number(ranks[b] < 0) || a - b;
    return sign * (ranks[a] - ranks[b]) || a - b;
  });
}

/** The place of each row's value among the distinct values; -1 for none. Comparing texts is slow. */
function rankRows(rows, order, at, kind) {
  const keys = order.map((row) => sortKey(kind, rows[row][at]));
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  const isText = kind === "text" || kind === "json";
  const distinct = [...new Set(keys)].filter((key) => key !== null).sort(isText ? compare : (a, b) => a - b);
  const places = new Map(distinct.map((key, place) => [key, place]));
  const ranks = new Int32Array(rows.length);
  order.forEach((row, number) => {
    ranks[row] = keys[number] === null ? -1 : places.get(keys[number]);
  });
  return ranks;
}

/** Builds a filter of rows by text: in all columns, or in one; as written exactly or as shown. */
export function buildFilter(rows, formats) {
  const kept = formats.map(() => new Map());
  const matches = (value, at, wanted, hasDigit) => {
    if (value === null || value === undefined) return false;
    const { kind, write } = formats[at];
    if (exact(value).toLowerCase().includes(wanted)) return true;
    if (kind === "text" || kind === "json" || kind === "boolean" || (kind === "number" && !hasDigit)) return false;
    // Writing a date or a number takes a hundred times as long as looking into it.
    let shown = kept[at].get(value);
    if (shown === undefined) kept[at].set(value, (shown = write(value).toLowerCase()));
    return shown.includes(wanted);
  };
  return (text, at) => {
    const wanted = text.trim().toLowerCase();
    const all = rows.map((_, row) => row);
    if (!wanted) return all;
    const hasDigit = /\d/.test(wanted);
    const columns = at < 0 ? formats.map((_, column) => column) : [at];
    return all.filter((row) => columns.some((column) => matches(rows[row][column], column, wanted, hasDigit)));
  };
}

const LEAST_PX = 72;
const MOST_PX = 380;

/** Widths of the columns in pixels, from their names and a sample of their cells. */
export function measureWidths(names, rows, formats) {
  const sample = rows.length > 200 ? rows.filter((_, at) => at % Math.ceil(rows.length / 200) === 0) : rows;
  return names.map((name, at) => {
    const cells = sample.map((row) => (row[at] === null ? 1 : countWide(formats[at].write(row[at]))));
    const longest = Math.max(countWide(name) * 1.02 + 3.4, ...cells);
    return Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, longest * 7.9 + 32)));
  });
}

/** Characters of a text, where those of CJK count twice. */
export function countWide(text) {
  let wide = 0;
  for (const character of String(text).slice(0, 80)) wide += character.codePointAt(0) > 0x2e80 ? 2 : 1;
  return wide;
}
