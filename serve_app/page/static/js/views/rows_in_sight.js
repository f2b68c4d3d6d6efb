/**
 * Reads the rows of a conversation's earlier answers as they come into sight.
 *
 * At most two at once, and each at most once by itself: where that failed, the reader decides.
 */

import { useEffect, useRef } from "../../vendor/preact.js";
import { showRows } from "../core/conversation.js";
import { refer } from "../core/files.js";
import { onForget } from "../core/state.js";

const MOST_AT_ONCE = 2;
// What is only scrolled past is not read.
const STAYS_MS = 200;

const tried = new WeakSet();
const waiting = new Set();
let reading = 0;

onForget(() => waiting.clear());

function readNext() {
  for (const turn of waiting) {
    if (reading >= MOST_AT_ONCE) return;
    waiting.delete(turn);
    // Meanwhile the reader may have asked for them.
    if (turn.value.state !== "kept" || turn.value.note || turn.value.problem) continue;
    tried.add(turn);
    reading += 1;
    showRows(turn).finally(() => {
      reading -= 1;
      readNext();
    });
  }
}

/** Reads the rows of the turn when the element of the returned reference is in sight. */
export function useRowsInSight(turn) {
  const element = useRef(null);
  useEffect(() => {
    const { kept } = turn.value;
    if (tried.has(turn) || kept.outcome !== "answered" || !refer(kept)) return undefined;
    let timer = 0;
    const watcher = new IntersectionObserver((entries) => {
      clearTimeout(timer);
      waiting.delete(turn);
      if (!entries.at(-1).isIntersecting || tried.has(turn)) return;
      timer = setTimeout(() => {
        waiting.add(turn);
        readNext();
      }, STAYS_MS);
    });
    watcher.observe(element.current);
    return () => {
      watcher.disconnect();
      clearTimeout(timer);
      waiting.delete(turn);
    };
  }, [turn]);
  return element;
}
