/**
 * The keys of the page. Every action is listed here once; components give it what it does.
 *
 * Single keys act only outside of fields, and can be switched off (WCAG 2.1.4).
 */

import { signal, useLayoutEffect, useRef } from "../../vendor/preact.js";

/** @typedef {{id: string, keys: string, does: string, group: string}} Action */

/** @type {Action[]} */
export const ACTIONS = [
  ["Everywhere", "help", "?", "Show this list"],
  ["Everywhere", "ask", "/", "Write a question"],
  ["Everywhere", "new", "n", "New conversation"],
  ["Everywhere", "menu", "m", "Open the menu (narrow windows)"],
  ["Everywhere", "close", "Escape", "Stop the question, close what is open"],
  ["Everywhere", "undo", "u", "Undo: a deletion, a saved correction"],
  ["Everywhere", "sign.out", "Q", "Sign out"],
  ["Go to", "go.ask", "g q", "Questions"],
  ["Go to", "go.schema", "g s", "Data: tables and definitions"],
  ["Go to", "go.history", "g h", "History"],
  ["Go to", "go.me", "g a", "Account: who am I"],
  ["Go to", "go.review", "g r", "Review of wrong answers"],
  ["Question", "send", "Enter", "Ask"],
  ["Question", "line", "Shift+Enter", "A new line"],
  ["Question", "database", "b", "Choose the database"],
  ["Question", "pick", "1 … 4", "Pick a suggestion or a reading"],
  ["Question", "again", "r", "Ask again"],
  ["Answer", "previous", "k", "The answer or entry above"],
  ["Answer", "next", "j", "The answer or entry below"],
  ["Answer", "table", "t", "Show the table"],
  ["Answer", "chart", "v", "Show the chart"],
  ["Answer", "chart.kind", "h", "Another kind of chart"],
  ["Answer", "chart.png", "p", "Save the chart as PNG"],
  ["Answer", "chart.svg", "P", "Save the chart as SVG"],
  ["Answer", "filter", "f", "Filter the rows"],
  ["Answer", "columns", "o", "Choose columns"],
  ["Answer", "copy", "c", "Copy the table"],
  ["Answer", "download", "d", "Download"],
  ["Answer", "confidence", "i", "What the confidence rests on"],
  ["Answer", "why", "w", "Why this answer"],
  ["Answer", "edit", "e", "See and correct the SQL"],
  ["Answer", "right", "y", "The answer is right"],
  ["Answer", "wrong", "x", "The answer is wrong"],
  ["Table", "cells", "Arrows", "Move from cell to cell (Home, End, Page keys too)"],
  ["Table", "open", "Enter", "Show the whole cell; sort, in a column's name"],
  ["Table", "copy.cell", "Ctrl+C", "Copy the cell"],
  ["SQL editor", "run", "Ctrl+Enter", "Check and run the query"],
  ["SQL editor", "leave", "Escape", "Leave the editor (Tab does too)"],
  ["Lists", "rename", "F2", "Rename a conversation"],
  ["Lists", "star", ".", "Star a conversation"],
  ["Lists", "delete", "Delete", "Delete a conversation"],
  ["Lists", "done", "a", "Mark a wrong answer as done"],
].map(([group, id, keys, does]) => ({ group, id, keys, does }));

const STORED = "quorumsql.single-keys";
/** Whether single keys are shortcuts. */
export const singleKeys = signal(recall() !== "off");
export function switchSingleKeys() {
  singleKeys.value = !singleKeys.value;
  try {
    localStorage.setItem(STORED, singleKeys.value ? "on" : "off");
  } catch {
    // Storage may be forbidden: the choice then lasts as long as the page.
  }
}

/** The reader's choice, the only thing that the page stores. */
function recall() {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

/** id → handlers, the latest first; a handler that returns false leaves the key to the next. */
const handlers = new Map();

/**
 * Gives an action what it does while the component is shown.
 * @param {string} id @param {(event: KeyboardEvent) => unknown} run returning false: not now
 * @param {boolean} [isLast] whether every other component comes before this one
 */
export function useAction(id, run, isLast = false) {
  const latest = useRef(run);
  latest.current = run;
  // As soon as it is there, so that no key is lost that is pressed before the screen is drawn.
  useLayoutEffect(() => {
    const handler = (event) => latest.current(event);
    const list = handlers.get(id) ?? [];
    handlers.set(id, isLast ? [...list, handler] : [handler, ...list]);
    return () => handlers.set(id, handlers.get(id).filter((other) => other !== handler));
  }, [id]);
}

/**
 * Lets `j` and `k` walk through a list. Returns the reference of the list's element.
 * @param {string} selector what takes the focus in each `li`
 */
export function useSteps(selector) {
  const list = useRef(null);
  const step = (by) => () => {
    const stops = [...(list.current?.querySelectorAll(selector) ?? [])];
    const here = stops.findIndex((stop) => stop.closest("li").contains(document.activeElement));
    stops[Math.max(0, Math.min(stops.length - 1, here + by))]?.focus();
  };
  useAction("next", step(1));
  useAction("previous", step(-1));
  return list;
}

const byKey = new Map();
for (const action of ACTIONS) {
  if (!byKey.has(action.keys)) byKey.set(action.keys, action.id);
}
for (const digit of "1234") byKey.set(digit, "pick");

function isEditable(target) {
  return target instanceof Element && (target.isContentEditable || target.matches("input, textarea, select"));
}

let prefix = "";
let prefixTimer = 0;

function act(id, event) {
  for (const handler of handlers.get(id) ?? []) {
    if (handler(event) !== false) {
      event.preventDefault();
      return true;
    }
  }
  return false;
}

function handle(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.composedPath()[0];
  // A dialog closes by itself; what is behind it, such as a running question, goes on.
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") return void act("close", event);
  if (isEditable(target) || !singleKeys.value) return;
  if (event.key === "Enter" || event.key === " " || event.key.startsWith("Arrow")) return;
  const key = prefix ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  clearTimeout(prefixTimer);
  if (key === "g") {
    prefix = "g";
    prefixTimer = setTimeout(() => (prefix = ""), 1500);
    return;
  }
  const id = byKey.get(key);
  if (id) act(id, event);
}

/** Starts to listen. */
export function listen() {
  addEventListener("keydown", handle);
}
