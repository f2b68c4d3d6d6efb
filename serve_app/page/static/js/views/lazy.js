/** A view whose module is loaded when it is first shown. */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { connection, tryNow } from "../core/api.js";
import { Button } from "../components/controls.js";

const sheets = new Set();

/** Adds a style sheet of the page once; resolves when it is there. */
function addSheet(name) {
  if (!name || sheets.has(name)) return Promise.resolve();
  sheets.add(name);
  return new Promise((resolve) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL(`../../css/${name}`, import.meta.url).href;
    link.onload = link.onerror = resolve;
    document.head.append(link);
  });
}

/** Loads what is behind a click while nothing else happens, so that it opens at once. */
export function prepare(loaders) {
  const run = () => {
    addSheet("views.css");
    for (const load of loaders) load().catch(() => {});
  };
  if (window.requestIdleCallback) requestIdleCallback(run, { timeout: 4000 });
  else setTimeout(run, 1500);
}

/** @param {{load: () => Promise<object>, name: string, props?: object, sheet?: string}} props */
export function Lazy({ load, name, props = {}, sheet = "views.css" }) {
  const [part, setPart] = useState(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isGone = false;
    Promise.all([load(), addSheet(sheet)]).then(
      ([module]) => isGone || setPart({ view: module[name] }),
      () => {
        if (isGone) return;
        setPart({ failed: true });
        tryNow();
      },
    );
    return () => (isGone = true);
  }, [turn]);
  const again = () => {
    setPart(null);
    setTurn((number) => number + 1);
  };
  const wasAway = useRef(false);
  useEffect(() => {
    if (part?.failed && wasAway.current && connection.value === "ok") again();
    wasAway.current = connection.value === "away";
  }, [connection.value]);
  if (part?.failed) {
    return html`<div class="problem framed" role="alert"><p>This part of the page could not be loaded.</p><${Button} icon="again" onClick=${again}>Try again</${Button}></div>`;
  }
  return part ? html`<${part.view} ...${props} />` : html`<p class="faint loading-line" role="status">Loading …</p>`;
}
