/**
 * The conversation that is shown: its turns, and what asks, stops and continues them.
 *
 * A turn is a signal, so that only what belongs to it is drawn anew while its events arrive.
 */

import { batch, computed, signal } from "../../vendor/preact.js";
import { Problem, reachable, requestJson, sleep } from "./api.js";
import { askQuestion, Lost } from "./events.js";
import { buildRun, FIRST_ROWS } from "./files.js";
import { database, onForget, refreshMe } from "./state.js";

const LONGEST_WAIT_S = 60;
const MOST_TIMES_LOST = 2;
const MOST_TIMES_REFUSED = 6;
const UNREADABLE = {
  title: "No answer",
  detail: "The service ended the question without an answer that can be read. Ask again.",
};

/**
 * @typedef {object} Turn
 * @property {number} key
 * @property {string} question @property {string} database @property {string} chosenSql
 * @property {"running"|"waiting"|"done"|"stopped"|"problem"|"kept"} state `kept`: of the history, without rows
 * @property {number} startedAt @property {number} endedAt milliseconds since 1970
 * @property {{stage: string, startedAt: number, endedAt: number, event: object}[]} stages
 * @property {object[]} candidates events of the kind `candidate` @property {object|null} vote
 * @property {object|null} early the rows before they are in words
 * @property {object|null} answer @property {Problem|null} problem @property {string} note
 * @property {object|null} kept the turn of the history
 */

/** @type {import("../../vendor/preact.js").Signal<import("../../vendor/preact.js").Signal<Turn>[]>} */
export const turns = signal([]);
/** The id of the conversation at the service; empty before its first answer. */
export const session = signal("");
export const title = signal("");
/** What is written in the field but not yet asked. */
export const draft = signal("");

export const running = computed(() => turns.value.find((turn) => ["running", "waiting"].includes(turn.value.state)));

let nextKey = 1;
let stopper = null;

function buildTurn(question, chosenSql) {
  return {
    key: nextKey++, question, chosenSql, database: database.value, state: "running",
    startedAt: Date.now(), endedAt: 0, stages: [], candidates: [], vote: null,
    early: null, answer: null, problem: null, note: "", retryAt: 0, kept: null,
  };
}

const update = (turn, values) => (turn.value = { ...turn.value, ...values });

/** Begins an empty conversation. */
export function startAnew() {
  stop();
  batch(() => {
    turns.value = [];
    session.value = "";
    title.value = "";
  });
}

onForget(() => {
  startAnew();
  draft.value = "";
});

/** Stops the question that runs. Returns whether one did. */
export function stop() {
  if (!stopper) return false;
  stopper.abort();
  stopper = null;
  return true;
}

/** Asks in this conversation. `chosenSql`: the SQL of the reading that was chosen. */
export function ask(question, chosenSql = "") {
  if (running.value || !question.trim()) return;
  const turn = signal(buildTurn(question.trim(), chosenSql));
  batch(() => {
    turns.value = [...turns.value, turn];
  });
  run(turn);
}

/** Asks the question of a turn once more, in its place. */
export function askAgain(turn) {
  if (running.value) return;
  const { question, chosenSql, key, database: name } = turn.value;
  turn.value = { ...buildTurn(question, chosenSql), key, database: name };
  run(turn);
}

/** Asks the question of a turn whose query was corrected, complete and without the reading that was chosen. */
export function askCorrected(turn) {
  const { answer, question } = turn.value;
  turn.value = { ...turn.value, question: answer?.rewritten || question, chosenSql: "" };
  askAgain(turn);
}

async function run(turn) {
  stopper = new AbortController();
  const abort = stopper.signal;
  session.value ||= `page-${randomId()}`;
  for (let lost = 0, refused = 0; ; ) {
    try {
      await receiveAll(turn, abort);
      break;
    } catch (error) {
      if (error.name === "AbortError") {
        update(turn, { state: "stopped", endedAt: Date.now(), note: "" });
        break;
      }
      lost += error instanceof Lost ? 1 : 0;
      refused += error.status > 0 ? 1 : 0;
      const isHopeless = lost > MOST_TIMES_LOST || refused > MOST_TIMES_REFUSED;
      if (!(await waitAfter(turn, error, abort, isHopeless))) break;
    }
  }
  if (stopper?.signal === abort) stopper = null;
}

/** Waits until the question can be sent again; false: it cannot, and the turn says why. */
async function waitAfter(turn, error, abort, isHopeless) {
  const isPassing = error instanceof Problem && error.isPassing && (error.retryAfterS ?? 5) <= LONGEST_WAIT_S;
  if (isHopeless || (!isPassing && !(error instanceof Lost))) {
    const problem = error instanceof Problem ? error : new Problem(-1, UNREADABLE, null);
    update(turn, { state: "problem", problem, endedAt: Date.now(), note: "" });
    return false;
  }
  try {
    if (error instanceof Lost) {
      update(turn, { state: "waiting", note: "The connection broke while the service worked on this. The question is asked again." });
      await sleep(800, abort);
      await reachable(abort);
    } else if (error.status === 0) {
      update(turn, { state: "waiting", note: "The service does not answer. The question is asked again as soon as it does." });
      await reachable(abort);
    } else {
      const seconds = error.retryAfterS ?? 5;
      update(turn, { state: "waiting", note: error.message, retryAt: Date.now() + seconds * 1000 });
      await sleep(seconds * 1000, abort);
    }
  } catch {
    update(turn, { state: "stopped", endedAt: Date.now(), note: "" });
    return false;
  }
  update(turn, { state: "running", note: "", retryAt: 0, stages: [], candidates: [], vote: null, early: null });
  return true;
}

async function receiveAll(turn, abort) {
  const { question, chosenSql, database: name } = turn.value;
  const body = {
    question, database: name, session: session.value, trace: true,
    ...(chosenSql && { chosen_sql: chosenSql }),
  };
  for await (const event of askQuestion(body, abort)) receive(turn, event);
}

function receive(turn, { kind, data }) {
  const now = Date.now();
  const value = turn.value;
  if (kind === "stage") update(turn, { stages: addStage(value.stages, data, now) });
  else if (kind === "candidate") update(turn, { candidates: [...value.candidates, data] });
  else if (kind === "vote") update(turn, { vote: data });
  else if (kind === "rows") update(turn, { early: data });
  else if (kind === "problem") {
    throw new Problem(data.status ?? 500, data, data.status === 503 ? 5 : null);
  } else if (kind === "answer") {
    update(turn, { state: "done", answer: data, endedAt: now, note: "", stages: endStages(value.stages, now) });
    if (data.session) session.value = data.session;
    refreshMe();
  }
}

function endStages(stages, now) {
  return stages.map((stage) => (stage.endedAt ? stage : { ...stage, endedAt: now }));
}

/** A stage that comes again is shown as one more, unless it is the one that is running. */
function addStage(stages, event, now) {
  const last = stages.at(-1);
  if (last?.stage === event.stage) return [...stages.slice(0, -1), { ...last, event }];
  return [...endStages(stages, now), { stage: event.stage, startedAt: now, endedAt: 0, event }];
}

/** Shows a conversation of the history. @param {object} kept as the service has it */
export function show(kept) {
  batch(() => {
    startAnew();
    session.value = kept.id;
    title.value = kept.title;
    if (kept.turns.length) database.value = kept.turns.at(-1).database;
    turns.value = kept.turns.map((one) =>
      signal({ ...buildTurn(one.question, ""), database: one.database, state: "kept", kept: one, startedAt: Date.parse(one.asked_at) }));
  });
}

/** Runs the query of a kept turn again, as the reader. */
export async function showRows(turn, abort) {
  const { kept } = turn.value;
  update(turn, { note: "Reading the rows …", problem: null });
  try {
    const result = await requestJson("run", { method: "POST", abort, body: buildRun(kept, FIRST_ROWS) });
    update(turn, { state: "done", note: "", answer: buildAnswer(kept.question, kept.database, result, { rewritten: kept.rewritten, ...readSureness(kept) }) });
  } catch (error) {
    if (error.name !== "AbortError") update(turn, { note: "", problem: error });
  }
}

/** How sure an answer was when it was given. @param {object} kept a turn of the history */
const readSureness = ({ confidence, quorum, origin, asked_at }) => ({ confidence, quorum, origin, given_at: asked_at });

/** The answer of a query that was run again: it has rows, and no process. */
export function buildAnswer(question, name, result, more = {}) {
  return {
    outcome: "answered", question, database: name, notes: [], trace: null, text: "", text_source: "",
    confidence: null, quorum: null, cut: [], predicates: [], ...result, ...more,
  };
}

function randomId() {
  // crypto.randomUUID exists only on https and localhost.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
