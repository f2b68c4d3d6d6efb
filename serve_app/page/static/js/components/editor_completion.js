/**
 * What the SQL editor completes. Names are those of what the principal may see: tables by search on the
 * server, columns of the tables that the query names. Kept until the principal signs out.
 */

import { query, requestJson } from "../core/api.js";
import { onForget } from "../core/state.js";
import { plain } from "../core/text.js";
import { KEYWORDS, readTokens } from "../sql/tokens.js";

const kept = new Map();
onForget(() => kept.clear());

function fetchOnce(path) {
  if (!kept.has(path)) {
    const promise = requestJson(path);
    promise.catch(() => kept.delete(path));
    kept.set(path, promise);
  }
  return kept.get(path);
}

/** The names after FROM and JOIN, with their aliases: alias or last part → name. */
export function readSources(sql) {
  const tokens = readTokens(sql).filter((token) => token.kind !== "space" && token.kind !== "comment");
  const sources = new Map();
  for (let at = 0; at < tokens.length; at += 1) {
    if (!/^(from|join)$/i.test(tokens[at].text)) continue;
    let name = "";
    while (tokens[at + 1]?.kind === "name" || tokens[at + 1]?.text === ".") {
      if (name && !name.endsWith(".") && tokens[at + 1].text !== ".") break;
      at += 1;
      name += tokens[at].text;
    }
    if (!name) continue;
    if (/^as$/i.test(tokens[at + 1]?.text)) at += 1;
    const alias = tokens[at + 1]?.kind === "name" ? tokens[at + 1].text : name.split(".").at(-1);
    sources.set(unquote(alias).toLowerCase(), unquote(name));
  }
  return sources;
}

const unquote = (name) => name.replaceAll('"', "");
const quote = (name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

async function listColumns(database, table) {
  try {
    const base = `databases/${encodeURIComponent(database)}/tables`;
    const { tables } = await fetchOnce(`${base}${query({ search: table, limit: 5 })}`);
    const found = tables.find((one) => one.table === table || one.table.endsWith(`.${table}`));
    return found ? (await fetchOnce(`${base}/${encodeURIComponent(found.table)}`)).columns : [];
  } catch {
    return [];
  }
}

/** Whether a name or a word in it begins with the text: "rev" finds "total_revenue", "ord" finds "sales.orders". */
function begins(name, text) {
  const [whole, start] = [name.toLowerCase(), text.toLowerCase()];
  return whole.startsWith(start) || whole.includes(`_${start}`) || whole.includes(`.${start}`);
}

/** Whether a query breaks off inside of a text or a comment. */
const isQuoted = (sql) => ["string", "comment"].includes(readTokens(sql).at(-1)?.kind);

/** What the place before the cursor wants first: tables after FROM and JOIN, else columns. */
const wantsTable = (before) => /\b(from|join)\s+(?:[\p{L}\p{N}_".]+\s*(?:\s(?:as\s+)?[\p{L}\p{N}_"]+)?\s*,\s*)*$/iu.test(before);

/**
 * A source of completions for CodeMirror: tables, columns of the tables that the query names, keywords of
 * reading queries. In this order, or with the columns first where a column is to be expected.
 */
export function buildCompletion(database) {
  return async (context) => {
    const word = context.matchBefore(/[\p{L}\p{N}_"]*$/u);
    const before = context.state.sliceDoc(Math.max(0, word.from - 200), word.from);
    if (word.from === word.to && !context.explicit && !before.endsWith(".")) return null;
    const text = unquote(context.state.sliceDoc(word.from, word.to));
    if (/^\d/.test(text) || isQuoted(context.state.sliceDoc(0, context.pos))) return null;
    const sources = readSources(context.state.doc.toString());
    const owner = unquote(before.match(/([\p{L}\p{N}_"]+)\.$/u)?.[1] ?? "");
    const found = await (owner ? listOwned(database, sources, owner, text) : listAll(database, sources, text, wantsTable(before)));
    // What is written already comes first, so that Enter changes nothing; alone, it is not offered.
    const isWritten = ({ label }) => label.toLowerCase() === text.toLowerCase();
    const options = [...found.filter(isWritten), ...found.filter((one) => !isWritten(one))];
    return options.length && !options.every(isWritten) ? { from: word.from, options, filter: false } : null;
  };
}

/** What can follow a name and a dot: columns of the table with this name or alias, or tables of the schema. */
async function listOwned(database, sources, owner, text) {
  if (sources.has(owner.toLowerCase())) return (await listColumns(database, sources.get(owner.toLowerCase()))).filter((column) => begins(column.name, text)).map(complete);
  const tables = await searchTables(database, `${owner}.${text}`);
  return tables.filter(({ table }) => table.toLowerCase().startsWith(`${owner}.${text}`.toLowerCase())).map((one) => completeTable(one, one.table.split(".").at(-1)));
}

async function listAll(database, sources, text, isTableFirst) {
  const [found, ...ofTables] = await Promise.all([searchTables(database, text), ...[...new Set(sources.values())].map((table) => listColumns(database, table))]);
  const tables = found.filter(({ table }) => begins(table, text)).map((one) => completeTable(one, one.table));
  const columns = [...new Map(ofTables.flat().map((column) => [column.name, column])).values()].filter(({ name }) => begins(name, text)).map(complete);
  const keywords = text ? listKeywords(text) : [];
  return isTableFirst ? [...tables, ...columns, ...keywords] : [...columns, ...tables, ...keywords];
}

const searchTables = (database, search) =>
  fetchOnce(`databases/${encodeURIComponent(database)}/tables${query({ search, limit: 40 })}`).then(({ tables }) => tables, () => []);

const listKeywords = (text) => [...KEYWORDS].filter((keyword) => keyword.startsWith(text.toLowerCase())).map((keyword) => ({ label: keyword.toUpperCase(), detail: "keyword" }));

const complete = (column) => ({ label: quote(column.name), displayLabel: plain(column.name), detail: plain(column.type) });

const completeTable = (one, name) => ({ label: name.split(".").map(quote).join("."), displayLabel: plain(name), detail: plain(one.comment || one.gloss || "table").slice(0, 60) });
