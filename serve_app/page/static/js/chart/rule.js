/**
 * Which chart the rows suggest: by rule, from the types of columns and their numbers of values.
 *
 * A chart is `{mark, x, y, color}` with numbers of columns. No text of a model or of data decides
 * anything but by its type and number.
 */

import { isNameLike, readKind, writeWords } from "../core/format.js";

/** @typedef {{mark: "bar"|"line", x: number, y: number[], color: number|null}} Chart */
/** @typedef {{at: number, role: "amount"|"moment"|"category"|"other", distinct: number, isOrdered: boolean}} Role */

export const MOST_ROWS = 5000;
const MOST_BARS = 60;
const MOST_COLORS = 10;
const YEAR = /(^|_|\s)(year|yr|fiscal_year)$/i;

/** What each column can be in a chart. @returns {Role[]} */
export function readRoles(columns, rows) {
  const sample = rows.slice(0, MOST_ROWS);
  return columns.map((column, at) => {
    const values = sample.map((row) => row[at]);
    const distinct = new Set(values.filter((value) => value !== null)).size;
    const kind = readKind(column, values.slice(0, 200));
    const isYear = kind === "number" && YEAR.test(writeWords(column.name));
    if (kind === "date" || kind === "time") return { at, role: "moment", distinct, isOrdered: true };
    if (isYear) return { at, role: "category", distinct, isOrdered: true };
    if (kind === "number" && !isNameLike(column)) return { at, role: "amount", distinct, isOrdered: true };
    if (kind === "json") return { at, role: "other", distinct, isOrdered: false };
    return { at, role: "category", distinct, isOrdered: kind === "number" };
  });
}

/**
 * The chart that fits best; null where none does, such as for one row, for one value of the dimension, or for texts only.
 * @param {Role[]} roles @param {number} count of rows
 * @returns {Chart | null}
 */
export function suggestChart(roles, count) {
  const amounts = roles.filter((one) => one.role === "amount" && one.distinct > 0).map((one) => one.at);
  const moment = roles.find((one) => one.role === "moment" && one.distinct > 1);
  const categories = roles.filter((one) => one.role === "category" && one.distinct > 1);
  if (count < 2 || !amounts.length) return null;
  const few = categories.find((one) => one.distinct <= MOST_COLORS && one.distinct < count);
  if (moment) {
    const isLong = moment.distinct < count;
    return { mark: "line", x: moment.at, y: isLong && few ? [amounts[0]] : amounts.slice(0, 4), color: isLong && few ? few.at : null };
  }
  const axis = categories.find((one) => one.distinct <= MOST_BARS && one !== few) ?? categories.find((one) => one.distinct <= MOST_BARS);
  if (!axis) return null;
  const color = few && few !== axis && axis.distinct < count ? few.at : null;
  const year = axis.isOrdered && axis.distinct > 8 && color === null;
  return { mark: year ? "line" : "bar", x: axis.at, y: [amounts[0]], color };
}

/** The columns that can be chosen for each part of a chart. */
export function listChoices(roles) {
  const all = (test) => roles.filter(test).map((one) => one.at);
  return {
    x: all((one) => (one.role === "moment" || one.role === "category") && one.distinct > 1),
    y: all((one) => one.role === "amount" && one.distinct > 0),
    color: all((one) => one.role === "category" && one.distinct > 1 && one.distinct <= MOST_COLORS),
  };
}
