/** Data of a view: loaded when it is shown, again when what it depends on changes or on `retry`. */

import { useEffect, useState } from "../../vendor/preact.js";
import { load, requestJson } from "./api.js";

/**
 * @param {string | null} path null: nothing to load yet
 * @returns {{data: any, problem: Error|null, waiting: Error|null, retry: () => void, change: (data: any) => void, more: (list: string) => Promise<void>}}
 *   `data` is null until it is there, and stays the former while a new path is loaded; `more` adds
 *   the next page (`data.next`) of the list of that name, and throws Problem
 */
export function useLoaded(path) {
  const [state, setState] = useState({ data: null, problem: null, waiting: null, path: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const stopper = new AbortController();
    const notify = (problem) => setState((before) => ({ ...before, waiting: problem }));
    load(path, { abort: stopper.signal, notify })
      .then((data) => setState({ data, problem: null, waiting: null, path }))
      .catch((problem) => {
        if (problem.name !== "AbortError") setState((before) => ({ ...before, problem, waiting: null }));
      });
    return () => stopper.abort();
  }, [path, turn]);
  return {
    ...state,
    retry: () => {
      setState((before) => ({ ...before, problem: null }));
      setTurn((number) => number + 1);
    },
    change: (data) => setState((before) => ({ ...before, data })),
    more: async (list) => {
      const { next } = state.data;
      const page = await requestJson(`${state.path}&after=${encodeURIComponent(next)}`);
      // Unless another list is shown meanwhile, or the page is there already.
      setState((before) => (before.path === state.path && before.data.next === next
        ? { ...before, data: { ...before.data, [list]: [...before.data[list], ...page[list]], next: page.next } } : before));
    },
  };
}

/** A value that follows another once that rests for a while, as a search does what is typed. */
export function useDelayed(value, ms) {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}
