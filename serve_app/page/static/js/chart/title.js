/** The title of a chart: the question in lines that fit, as a text and nothing else. */

import { plain } from "../core/text.js";
import { countWide } from "../components/table_rows.js";

const MOST_LINES = 3;
export const TITLE_PX = 14;
const LETTER_PX = TITLE_PX * 0.56;

/** @param {string} question @param {number} width in pixels @returns {string[]} none where there is no question */
export function breakTitle(question, width) {
  const room = Math.max(12, Math.floor(width / LETTER_PX));
  const lines = [];
  for (const word of plain(question).split(/\s+/).filter(Boolean)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && countWide(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const kept = lines.slice(0, MOST_LINES);
  if (lines.length > MOST_LINES) kept[MOST_LINES - 1] += " …";
  return kept;
}
