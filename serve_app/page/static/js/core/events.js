/**
 * The events of a question: asked by POST /query, and followed again where the connection breaks.
 */

import { Problem, reachable, request, sleep } from "./api.js";

const STREAM = "text/event-stream";
// The service sends something every two seconds.
const SILENCE_MS = 30_000;
const LAST = new Set(["answer", "problem"]);

/** The question is no longer known to the service: it was restarted, or ended the question. */
export class Lost extends Error {}

/** @typedef {{id: string, kind: string, data: any}} ServerEvent */

/**
 * Parses server-sent events. Comment lines are skipped.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<ServerEvent>}
 */
export async function* parseEvents(body, silenceMs = SILENCE_MS) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = { id: "", kind: "message", data: [] };
  try {
    for (;;) {
      const { done, value } = await readInTime(reader, silenceMs);
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const raw of lines) {
        const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
        if (line === "") {
          if (event.data.length) yield { id: event.id, kind: event.kind, data: JSON.parse(event.data.join("\n")) };
          event = { id: "", kind: "message", data: [] };
        } else if (line.startsWith("id:")) event.id = line.slice(3).trim();
        else if (line.startsWith("event:")) event.kind = line.slice(6).trim();
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
 * A broken stream is followed by GET /queries/{id}/events. Throws Problem for a request that is
 * refused, Lost where the service no longer knows the question, AbortError when it is stopped.
 * @param {object} body of POST /query
 * @param {AbortSignal} abort
 * @param {(state: "asked"|"broken"|"followed") => void} notify
 */
export async function* askQuestion(body, abort, notify) {
  let response = await request("query", { method: "POST", body, abort, headers: { Accept: STREAM } });
  const id = response.headers.get("QuorumSQL-Query-Id");
  notify("asked");
  let last = "";
  for (;;) {
    try {
      for await (const event of parseEvents(response.body)) {
        if (event.id) last = event.id;
        yield event;
        if (LAST.has(event.kind)) return;
      }
    } catch (error) {
      if (abort.aborted) throw new DOMException("Stopped", "AbortError");
      if (error instanceof SyntaxError) throw error;
    }
    if (abort.aborted) throw new DOMException("Stopped", "AbortError");
    if (!id) throw new Lost();
    notify("broken");
    await sleep(300, abort);
    response = await follow(id, last, abort);
    notify("followed");
  }
}

async function follow(id, last, abort) {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    try {
      return await request(`queries/${encodeURIComponent(id)}/events`, {
        abort,
        headers: { Accept: STREAM, ...(last && { "Last-Event-ID": last }) },
      });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 404) throw new Lost();
      if (!error.isPassing) throw error;
      await (error.status === 0 ? reachable(abort) : sleep(1000 * (error.retryAfterS ?? 2), abort));
    }
  }
  throw new Lost();
}
