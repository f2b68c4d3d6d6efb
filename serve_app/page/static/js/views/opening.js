/** Opening something by its id in the address: once, with its problem and a retry. */

import { useEffect, useState } from "../../vendor/preact.js";

/** @param {string} id empty: nothing to open @param {(id: string) => Promise<void>} open */
export function useOpening(id, open) {
  const [state, setState] = useState({ opened: "", problem: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!id) return undefined;
    open(id).then(
      () => setState({ opened: id, problem: null }),
      (problem) => setState({ opened: "", problem }),
    );
    return undefined;
  }, [id, turn]);
  const retry = () => {
    setState({ opened: "", problem: null });
    setTurn(turn + 1);
  };
  return { isOpening: Boolean(id) && state.opened !== id && !state.problem, problem: id ? state.problem : null, waiting: null, retry };
}
