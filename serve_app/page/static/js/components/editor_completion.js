/**
 * Names for completion, from what the principal may see: tables by search on the server, columns of
 * the tables that the query names. Kept until the principal signs out.
 */

import { query, requestJson } from "../core/api.js";
import { onForget } from "../core/state.js";
import { plain } from "../core/text.js";
import { readTokens } from "../sql/tokens.js";

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

/** A source of completions for CodeMirror. */
export function buildCompletion(database) {
  return async (context) => {
    const word = context.matchBefore(/[\p{L}\p{N}_"]*$/u);
    if (!word || (word.from === word.to && !context.explicit && context.state.sliceDoc(word.from - 1, word.from) !== ".")) return null;
    const before = context.state.sliceDoc(Math.max(0, word.from - 200), word.from);
    const sources = readSources(context.state.doc.toString());
    const owner = before.match(/([\p{L}\p{N}_"]+)\.$/u)?.[1];
    if (owner && sources.has(unquote(owner).toLowerCase())) {
      const columns = await listColumns(database, sources.get(unquote(owner).toLowerCase()));
      return { from: word.from, options: columns.map(complete), validFor: /^[\p{L}\p{N}_"]*$/u };
    }
    const text = unquote(context.state.sliceDoc(word.from, word.to));
    const path = `databases/${encodeURIComponent(database)}/tables${query({ search: owner ? `${unquote(owner)}.${text}` : text, limit: 40 })}`;
    const [found, ...columns] = await Promise.all([
      fetchOnce(path).catch(() => ({ tables: [] })),
      ...[...new Set(sources.values())].map((table) => listColumns(database, table)),
    ]);
    const tables = found.tables.map((one) => {
      const name = owner ? one.table.split(".").at(-1) : one.table;
      return { label: name.split(".").map(quote).join("."), displayLabel: plain(name), detail: plain(one.comment || one.gloss || "table").slice(0, 60), boost: 1 };
    });
    return { from: word.from, options: owner ? tables : [...columns.flat().map(complete), ...tables] };
  };
}

const complete = (column) => ({ label: quote(column.name), displayLabel: plain(column.name), detail: plain(column.type), boost: 2 });
