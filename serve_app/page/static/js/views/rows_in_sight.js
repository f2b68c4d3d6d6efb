/**
 * Reads the rows of a conversation's earlier answers as they come into sight.
 *
 * The last one first, then at most two at once, and each at most once by itself: where that failed,
 * the reader decides.
 */

import { useEffect, useRef } from "../../vendor/preact.js";
import { showRows, turns } from "../core/conversation.js";
import { refer } from "../core/files.js";
import { onForget } from "../core/state.js";

const MOST_AT_ONCE = 2;
// What is only scrolled past is not read.
const STAYS_MS = 200;

const tried = new WeakSet();
const waiting = new Set();
const reading = new Set();
let timer = 0;
let touchedAt = 0;

onForget(() => waiting.clear());
for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  addEventListener(kind, () => (touchedAt = performance.now()), { passive: true, capture: true });
}

function schedule() {
  clearTimeout(timer);
  timer = setTimeout(readNext, STAYS_MS);
}

const isLast = (turn) => turn === turns.value.at(-1);

function readNext() {
  for (const turn of [...waiting].sort((a, b) => isLast(b) - isLast(a))) {
    if (reading.size >= MOST_AT_ONCE || [...reading].some(isLast)) return;
    waiting.delete(turn);
    // Meanwhile the reader may have asked for them.
    if (turn.value.state === "kept" && !turn.value.note && !turn.value.problem) read(turn);
  }
}

async function read(turn) {
  const startedAt = performance.now();
  tried.add(turn);
  reading.add(turn);
  await showRows(turn);
  reading.delete(turn);
  if (isLast(turn) && touchedAt < startedAt) await showLast();
  schedule();
}

/** Brings the last question to the top, so that what is read above it does not push it away. */
function showLast() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      document.querySelector(".turn:last-of-type h2")?.scrollIntoView({ block: "start", behavior: "instant" });
      resolve();
    });
  });
}

/** Reads the rows of the turn when the element of the returned reference is in sight. */
export function useRowsInSight(turn) {
  const element = useRef(null);
  useEffect(() => {
    const { kept } = turn.value;
    if (tried.has(turn) || kept.outcome !== "answered" || !refer(kept)) return undefined;
    const watcher = new IntersectionObserver((entries) => {
      waiting.delete(turn);
      if (!entries.at(-1).isIntersecting || tried.has(turn)) return;
      waiting.add(turn);
      schedule();
    });
    watcher.observe(element.current);
    return () => {
      watcher.disconnect();
      waiting.delete(turn);
    };
  }, [turn]);
  return element;
}
