/**
 * Requests to the service, errors as values of one class, and whether the service can be reached.
 *
 * Paths are relative to the page, so that it works behind a prefix. 401 ends everything that is
 * shown, by the handler that `onSignedOut` sets.
 */

import { signal } from "../../vendor/preact.js";

const BASE = new URL(".", document.baseURI);
const MOST_RETRIES = 4;
const LONGEST_WAIT_S = 60;

/** `ok`, or `away` while requests reach nothing. */
export const connection = signal("ok");

let signedOut = () => {};
/** Sets what is called, with the problem, when the service wants a token. */
export function onSignedOut(handler) {
  signedOut = handler;
}

/** An error that the service reports, or `status` 0 where it cannot be reached. */
export class Problem extends Error {
  /** @param {number} status @param {object} body a problem document @param {number|null} retryAfterS */
  constructor(status, body, retryAfterS) {
    super(String(body.detail || body.title || "The service reports an error."));
    this.status = status;
    this.title = String(body.title ?? "");
    this.body = body;
    this.retryAfterS = retryAfterS;
  }

  /** Whether the same request can work in a moment. */
  get isPassing() {
    return this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503;
  }
}

export function address(path) {
  return new URL(path, BASE);
}

/** Waits; rejects at once when `abort` is aborted. */
export function sleep(ms, abort) {
  return new Promise((resolve, reject) => {
    if (abort?.aborted) return reject(new DOMException("Stopped", "AbortError"));
    const timer = setTimeout(resolve, ms);
    abort?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("Stopped", "AbortError"));
    }, { once: true });
  });
}

function readRetryAfter(response) {
  const header = response.headers.get("Retry-After");
  if (!header) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(1, Math.ceil(seconds));
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(1, Math.ceil((date - Date.now()) / 1000));
}

async function readProblem(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    body = { title: `HTTP ${response.status}`, detail: `The service answered with status ${response.status}.` };
  }
  return new Problem(response.status, body ?? {}, readRetryAfter(response));
}

/**
 * The response of one request, if its status is a success. Throws Problem, or AbortError.
 * @param {string} path
 * @param {{method?: string, body?: unknown, headers?: object, abort?: AbortSignal, keepalive?: boolean, quiet?: boolean}} [options]
 *   `quiet`: a 401 is only thrown
 */
export async function request(path, options = {}) {
  const { method = "GET", body, headers = {}, abort, keepalive = false, quiet = false } = options;
  let response;
  try {
    response = await fetch(address(path), {
      method,
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: abort,
      keepalive,
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    markAway();
    throw new Problem(0, { title: "No connection", detail: "The service does not answer." }, null);
  }
  connection.value = "ok";
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (problem.status === 401 && !quiet) signedOut(problem);
  throw problem;
}

/** The JSON of a response; null where there is no content. */
export async function requestJson(path, options) {
  const response = await request(path, { ...options, headers: { Accept: "application/json", ...options?.headers } });
  return response.status === 204 ? null : response.json();
}

/**
 * GET that waits and tries again while the service is away or busy; `notify` is told each wait.
 * @param {string} path
 * @param {{abort?: AbortSignal, notify?: (problem: Problem|null) => void, quiet?: boolean}} [options]
 */
export async function load(path, { abort, notify = () => {}, quiet } = {}) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const body = await requestJson(path, { abort, quiet });
      notify(null);
      return body;
    } catch (error) {
      const wait = error.retryAfterS ?? 2 ** attempt;
      if (!(error instanceof Problem) || !error.isPassing || wait > LONGEST_WAIT_S) throw error;
      if (error.status !== 0 && attempt >= MOST_RETRIES) throw error;
      notify(error);
      await (error.status === 0 ? reachable(abort) : sleep(wait * 1000, abort));
    }
  }
}

let watching = null;
function markAway() {
  connection.value = "away";
  watching ??= watch().finally(() => (watching = null));
}

async function watch() {
  for (let wait = 500; ; wait = Math.min(wait * 1.6, 8000)) {
    await sleep(wait);
    if (await ping()) return;
  }
}

/** Whether the service can be reached. */
async function ping() {
  try {
    await fetch(address("healthz"), { cache: "no-store", credentials: "omit" });
    connection.value = "ok";
    return true;
  } catch {
    return false;
  }
}

/** Resolves when the service can be reached again. */
export async function reachable(abort) {
  while (connection.value !== "ok") await sleep(250, abort);
}

/** Tries to reach the service now, instead of at the next turn. */
export async function tryNow() {
  if (!(await ping())) markAway();
}

/** A query string of the values that are not empty. */
export function query(values) {
  const given = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}
