/** The list of keys. */

import { html } from "../../vendor/preact.js";
import { ACTIONS, singleKeys, switchSingleKeys } from "../core/keys.js";
import { Dialog } from "../components/controls.js";

/** A capital letter is typed with Shift. */
const writeKey = (key) => (/^[A-Z]$/.test(key) ? `Shift+${key}` : key);

export function HelpDialog({ close }) {
  const groups = [...new Set(ACTIONS.map((action) => action.group))];
  return html`<${Dialog} title="Keys" close=${close} kind="wide">
    <label class="check"><input type="checkbox" checked=${singleKeys.value} onChange=${switchSingleKeys} /> Single keys are shortcuts (outside of fields)</label>
    <div class="key-groups">${groups.map((group) => html`<section key=${group}><h3 class="eyebrow">${group}</h3>
      <dl>${ACTIONS.filter((action) => action.group === group).map((action) => html`<div><dt>${action.keys.split(" ").map((key) => (key === "…" ? " … " : html`<kbd>${writeKey(key)}</kbd>`))}</dt><dd>${action.does}</dd></div>`)}</dl></section>`)}</div>
    <p class="faint">Tab reaches everything; Enter and Space press it.</p>
  <//>`;
}
