/** Saying whether an answer is right: thumbs and corrections, and what the service did with them. */

import { useState } from "../../vendor/preact.js";
import { requestJson } from "../core/api.js";
import { refer } from "../core/files.js";
import { rights } from "../core/state.js";
import { plain } from "../core/text.js";

const DONE = {
  right: {
    stored: "Stored as an example: the model sees it with similar questions.",
    known: "It already is an example. Thank you.",
    recorded: "Recorded. Thank you.",
    removed: "Recorded. Thank you.",
  },
  wrong: {
    stored: "Your correction was checked and is stored as an example: the model sees it with similar questions.",
    known: "This correction already is an example. Thank you.",
    removed: "Recorded. The example that led to this was removed.",
    recorded: "Recorded as wrong. If you know the right query, correct it and save it.",
  },
};

/**
 * @param {{question: string, sql: string, reference?: string, database: string, rewritten?: string}} answer
 * @returns {{said: string, busy: boolean, message: string, send: (verdict: string, correction?: string) => Promise<boolean>}}
 */
export function useFeedback(answer) {
  const [state, setState] = useState({ said: "", busy: false, message: "" });
  const send = async (verdict, correction = null) => {
    setState((before) => ({ ...before, busy: true, message: "" }));
    try {
      const body = { question: answer.rewritten || answer.question, verdict, correction, ...refer(answer) };
      const { outcome } = await requestJson("feedback", { method: "POST", body });
      setState({ said: verdict, busy: false, message: (rights.value.process && DONE[verdict][outcome]) || "Recorded. Thank you." });
      return true;
    } catch (problem) {
      setState((before) => ({ ...before, busy: false, message: `Not recorded. ${plain(problem.message)}` }));
      return false;
    }
  };
  return { ...state, send };
}
