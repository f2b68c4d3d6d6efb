/** What differs between two queries, token by token. */

import { readTokens } from "./tokens.js";

const MOST_TOKENS = 1500;
const same = (token) => (token.kind === "keyword" ? token.text.toLowerCase() : token.text);

/**
 * Marks the tokens of `sql` that `other` does not have at that place (longest common subsequence).
 * @param {string} sql @param {string} other
 * @returns {Set<number>} numbers of tokens of `sql`
 */
export function findDifferences(sql, other) {
  const mine = withNumbers(sql);
  const theirs = withNumbers(other);
  if (mine.length > MOST_TOKENS || theirs.length > MOST_TOKENS) return new Set();
  const width = theirs.length + 1;
  const lengths = new Uint16Array((mine.length + 1) * width);
  for (let i = mine.length - 1; i >= 0; i -= 1) {
    for (let j = theirs.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] = mine[i].text === theirs[j].text
        ? lengths[(i + 1) * width + j + 1] + 1
        : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const different = new Set();
  let i = 0;
  let j = 0;
  while (i < mine.length) {
    if (j < theirs.length && mine[i].text === theirs[j].text) {
      i += 1;
      j += 1;
    } else if (j < theirs.length && lengths[i * width + j + 1] >= lengths[(i + 1) * width + j]) j += 1;
    else {
      different.add(mine[i].at);
      i += 1;
    }
  }
  return different;
}

/** The pieces of `other` that `sql` does not have, each as text. */
export function listMissing(sql, other) {
  const missing = findDifferences(other, sql);
  const pieces = [];
  let open = "";
  for (const [at, { kind, text }] of readTokens(other).entries()) {
    if (missing.has(at) || (open && kind === "space")) open += text;
    else if (open) {
      pieces.push(open.trim());
      open = "";
    }
  }
  return [...pieces, open.trim()].filter(Boolean);
}

function withNumbers(sql) {
  return readTokens(sql)
    .map((token, at) => ({ text: same(token), at, kind: token.kind }))
    .filter((token) => token.kind !== "space");
}
