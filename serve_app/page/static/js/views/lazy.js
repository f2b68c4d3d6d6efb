/** A view whose module is loaded when it is first shown. */

import { html, useEffect, useState } from "../../vendor/preact.js";
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

/** @param {{load: () => Promise<object>, name: string, props?: object, sheet?: string}} props */
export function Lazy({ load, name, props = {}, sheet = "views.css" }) {
  const [part, setPart] = useState(null);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isGone = false;
    Promise.all([load(), addSheet(sheet)]).then(
      ([module]) => isGone || setPart({ view: module[name] }),
      () => isGone || setPart({ failed: true }),
    );
    return () => (isGone = true);
  }, [turn]);
  if (part?.failed) {
    return html`<div class="problem framed" role="alert"><p>This part of the page could not be loaded.</p><${Button} icon="again" onClick=${() => { setPart(null); setTurn(turn + 1); }}>Try again</${Button}></div>`;
  }
  return part ? html`<${part.view} ...${props} />` : html`<p class="faint loading-line" role="status">Loading …</p>`;
}
