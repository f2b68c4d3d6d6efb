/**
 * SQL as tokens, for colours and line breaks. No parser: whatever it reads, the tokens
 * joined are the text again.
 */

/** @typedef {{kind: "keyword"|"name"|"string"|"number"|"comment"|"space"|"sign", text: string}} Token */

/** Words of queries that read, in small letters. */
const KEYWORDS = new Set(
  ("all and any as asc between both by case cast cross current_date current_timestamp date desc distinct else end except " +
    "exists extract false fetch filter first following for from full group having ilike in inner intersect interval is join " +
    "last lateral leading left like limit natural not null nulls offset on or order outer over partition preceding range " +
    "recursive right row rows select similar some table then timestamp to trailing true unbounded union unique using values " +
    "when where window with within").split(" "),
);

const TOKEN =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*(?:'|$)|\$(?<tag>\w*)\$[\s\S]*?(?:\$\k<tag>\$|$))|(?<quoted>"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$))|(?<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}\p{M}_$]*)|(?<space>\s+)|(?<sign><>|!=|>=|<=|\|\||::|[\s\S])/giu;

/** @param {string} sql @returns {Token[]} */
export function readTokens(sql) {
  return Array.from(sql.matchAll(TOKEN), ({ 0: text, groups }) => {
    if (groups.comment !== undefined) return { kind: "comment", text };
    if (groups.string !== undefined) return { kind: "string", text };
    if (groups.quoted !== undefined) return { kind: "name", text };
    if (groups.number !== undefined) return { kind: "number", text };
    if (groups.word !== undefined) return { kind: KEYWORDS.has(text.toLowerCase()) ? "keyword" : "name", text };
    return { kind: groups.space !== undefined ? "space" : "sign", text };
  });
}

/** A query in one line, in several; any other text as it is. */
export function layOut(sql) {
  return breakLines(readTokens(sql)).map((token) => token.text).join("");
}

/** Whether two queries are the same but for white space. */
export function isSameQuery(one, other) {
  const [first, second] = [one, other].map((sql) => readTokens(sql).filter((token) => token.kind !== "space").map((token) => token.text));
  return first.length === second.length && first.every((text, at) => text === second[at]);
}

const BEFORE = new Set(["from", "where", "group", "having", "order", "limit", "union", "except", "intersect", "window", "offset"]);
const JOIN = new Set(["join", "left", "right", "inner", "full", "cross", "natural"]);

/**
 * The tokens with lines broken before clauses, so that a query in one line can be read.
 * Only white space is changed; a text with line breaks of its own stays as it is.
 * @param {Token[]} tokens @returns {Token[]}
 */
export function breakLines(tokens) {
  if (tokens.some((token) => token.kind === "space" && token.text.includes("\n"))) return tokens;
  const opened = [];
  let previous = "";
  const laid = [];
  for (const [at, token] of tokens.entries()) {
    if (token.text === "(") opened.push(tokens.slice(at + 1).find((next) => next.kind !== "space")?.text.toLowerCase() ?? "");
    if (token.text === ")") opened.pop();
    const word = tokens[at + 1]?.kind === "keyword" ? tokens[at + 1].text.toLowerCase() : "";
    const isClause = BEFORE.has(word) || (JOIN.has(word) && !JOIN.has(previous) && previous !== "outer");
    const isQuery = opened.length === 0 || ["select", "with"].includes(opened.at(-1));
    const depth = opened.filter((first) => first === "select" || first === "with").length;
    if (token.kind === "space" && isClause && isQuery && laid.length) laid.push({ kind: "space", text: `\n${"  ".repeat(depth)}` });
    else if (token.kind === "space" && word === "and" && isQuery && !previous.startsWith("between")) laid.push({ kind: "space", text: `\n${"  ".repeat(depth + 1)}` });
    else laid.push(token);
    if (token.kind === "keyword") previous = previous === "between" && token.text.toLowerCase() !== "and" ? previous : token.text.toLowerCase();
  }
  return laid;
}
