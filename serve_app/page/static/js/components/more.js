/** The button below a list that comes in pages. */

import { html } from "../../vendor/preact.js";
import { plain } from "../core/text.js";
import { Button } from "./controls.js";
import { notify } from "./notices.js";

/** @param {{loaded: ReturnType<typeof import("../core/loading.js").useLoaded>, list: string}} props the name of the list in the data */
export function More({ loaded, list }) {
  const run = () => loaded.more(list).catch((problem) => notify(plain(problem.message)));
  return loaded.data?.next ? html`<${Button} onClick=${run}>Show more</${Button}>` : null;
}
