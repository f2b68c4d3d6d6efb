/** The one click to the process; the view behind it is loaded when it is first opened. */

import { html, useState } from "../../vendor/preact.js";
import { useAction } from "../core/keys.js";
import { Button } from "../components/controls.js";
import { Lazy } from "./lazy.js";

const loadWhy = () => import("./why/why.js");

/** For outcomes without rows. Where there are rows, the answer has the button. */
export function Why({ answer, mine = () => false }) {
  const [open, setOpen] = useState(false);
  const can = answer.trace;
  useAction("why", () => (can && mine() ? setOpen(!open) : false));
  if (!can) return null;
  return html`<div class="actions"><${Button} icon="why" hint="w" aria-expanded=${open} onClick=${() => setOpen(!open)}>Why</${Button}></div>
    ${open && html`<${WhyPanel} answer=${answer} />`}`;
}

export function WhyPanel({ answer }) {
  return html`<${Lazy} load=${loadWhy} name="WhyView" props=${{ answer }} />`;
}
