/** What leaves the page: the clipboard and downloads. */

import { request } from "./api.js";
import { exact } from "./format.js";
import { me } from "./state.js";
import { clean } from "./text.js";

/** Copies a text. Also on plain http, where browsers offer no clipboard interface. */
export async function copyText(text) {
  if (navigator.clipboard && isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("readonly", "");
  field.className = "off-screen";
  document.body.append(field);
  field.select();
  try {
    if (!document.execCommand("copy")) throw new Error("The browser did not copy.");
  } finally {
    field.remove();
  }
}

/** Text that a spreadsheet would run as a formula; a negative number is none. */
const FORMULA = /^(?=\s*[-+=@＝＋－＠])(?!-(\d+(\.\d+)?(e[-+]?\d+)?|Infinity)$)/i;

/** Rows as tab-separated text: exact values, no formulas, no tabs or line ends inside. */
export function writeTabs(columns, rows) {
  const write = (value) => exact(value).replace(FORMULA, "'").replace(/[\t\r\n]+/g, " ");
  return [columns.map((column) => write(column.name)), ...rows.map((row) => row.map(write))]
    .map((cells) => cells.join("\t"))
    .join("\n");
}

const LONGEST_NAME = 60;
/** Names that Windows keeps for devices. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/**
 * The name of a file, from the question: its words, as letters and digits of any script joined by "-".
 * Without a word, the moment.
 */
export function nameFile(question) {
  const words = clean(question ?? "").normalize("NFC").toLowerCase().replace(/['’]/g, "").match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  let name = [...(words[0] ?? "")].slice(0, LONGEST_NAME).join("");
  for (const word of words.slice(1)) {
    if (name.length + word.length >= LONGEST_NAME) break;
    name += `-${word}`;
  }
  if (!name) return `quorumsql-${new Date().toISOString().slice(0, 16).replace(/[:T]/g, "-")}`;
  return RESERVED.test(name) ? `quorumsql-${name}` : name;
}

/** Saves a blob under a name from the question. */
export function saveBlob(blob, question, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${nameFile(question)}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const TYPES = {
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  json: "application/json",
};
/** The most rows that the principal may ask for. */
export const mostRows = () => me.value?.max_rows ?? FIRST_ROWS;
/** The most that are read at first. */
export const FIRST_ROWS = 1000;

/** How the service is told which query is meant; null for none. */
export function refer({ database, sql }) {
  return sql ? { database, sql } : null;
}

/** What POST /run is asked for rows of an answer; null where it cannot be run again. */
export function buildRun(answer, most = Infinity) {
  const query = refer(answer);
  return query && { ...query, max_rows: Math.min(most, mostRows()) };
}

/**
 * Downloads an answer. The service runs its query again and writes the file, with as many rows as the
 * reader may ask for, CSV for spreadsheets; JSON holds the rows that are shown if those are all, or
 * the query cannot be run again.
 * @param {"csv"|"xlsx"|"json"} kind @param {object} answer
 */
export async function download(kind, answer) {
  const run = buildRun(answer);
  const { question } = answer;
  if (kind === "json") {
    const { database, columns } = answer;
    const { rows, truncated } = run && answer.truncated ? await (await request("run", { method: "POST", body: run, headers: { Accept: TYPES.json } })).json() : answer;
    const text = JSON.stringify({ question, database, columns, rows, truncated }, null, 1);
    saveBlob(new Blob([text], { type: TYPES[kind] }), question, kind);
    return;
  }
  const response = await request("run", { method: "POST", body: { ...run, spreadsheet_safe: true }, headers: { Accept: TYPES[kind] } });
  saveBlob(await response.blob(), question, kind);
}
