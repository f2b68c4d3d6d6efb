/** The one click to the process. */

import { html, useState } from "../../vendor/preact.js";
import { Button } from "../components/controls.js";
import { WhyView } from "./why/why.js";

/** For outcomes without rows. Where there are rows, the answer has the button. */
export function Why({ answer }) {
  const [open, setOpen] = useState(false);
  if (!answer.trace) return null;
  return html`<div class="actions"><${Button} icon="why" aria-expanded=${open} onClick=${() => setOpen(!open)}>Why</${Button}></div>
    ${open && html`<${WhyView} answer=${answer} />`}`;
}
