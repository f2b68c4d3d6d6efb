/**
 * The events of a question that is asked by POST /query.
 */

import { Problem, request } from "./api.js";

const STREAM = "text/event-stream";
// The service sends something every two seconds.
const SILENCE_MS = 30_000;
const LAST = new Set(["answer", "problem"]);

/** The connection broke before the answer: the service has ended the question. */
export class Lost extends Error {}

/** @typedef {{kind: string, data: any}} ServerEvent */

/**
 * Parses server-sent events. Comment lines are skipped.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* parseEvents(body, silenceMs = SILENCE_MS) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { kind: "message", data: [] };
  try {
    for (;;) {
      const { done, value } = await readInTime(reader, silenceMs);
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line === "") {
          if (event.data.length) yield { kind: event.kind, data: JSON.parse(event.data.join("\n")) };
          event = { kind: "message", data: [] };
        } else if (line.startsWith("event:")) event.kind = line.slice(6).trim();
        else if (line.startsWith("data:")) event.data.push(line.slice(5).replace(/^ /, ""));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function readInTime(reader, silenceMs) {
  let timer;
  const silence = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("silence")), silenceMs);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks a question and yields its events to the last (`answer` or `problem`).
 *
 * Throws Problem for a request that is refused, Lost where the connection breaks, AbortError when it is stopped.
 * @param {object} body of POST /query
 * @param {AbortSignal} abort
 */
export async function* askQuestion(body, abort) {
  const response = await request("query", { method: "POST", body, abort, headers: { Accept: STREAM } });
  try {
    for await (const event of parseEvents(response.body)) {
      yield event;
      if (LAST.has(event.kind)) return;
    }
  } catch (error) {
    if (abort.aborted) throw new DOMException("Stopped", "AbortError");
    if (error instanceof SyntaxError || error instanceof Problem) throw error;
  }
  if (abort.aborted) throw new DOMException("Stopped", "AbortError");
  throw new Lost();
}
