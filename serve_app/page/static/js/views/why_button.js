/** The one click to the process. */

import { html, useState } from "../../vendor/preact.js";
import { useAction } from "../core/keys.js";
import { Button } from "../components/controls.js";
import { WhyView } from "./why/why.js";

/** For outcomes without rows. Where there are rows, the answer has the button. */
export function Why({ answer, mine = () => false }) {
  const [open, setOpen] = useState(false);
  const can = answer.trace;
  useAction("why", () => (can && mine() ? setOpen(!open) : false));
  if (!can) return null;
  return html`<div class="actions"><${Button} icon="why" hint="w" aria-expanded=${open} onClick=${() => setOpen(!open)}>Why</${Button}></div>
    ${open && html`<${WhyView} answer=${answer} />`}`;
}
