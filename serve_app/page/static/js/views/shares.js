/** The links that the reader gave: what they show, when they end, and ending them now. */

import { html, useState } from "../../vendor/preact.js";
import { query, request } from "../core/api.js";
import { formatTime } from "../core/format.js";
import { useLoaded } from "../core/loading.js";
import { href } from "../core/router.js";
import { plain } from "../core/text.js";
import { Button } from "../components/controls.js";
import { Loading, More, notify } from "../components/notices.js";
import { Text } from "../components/text.js";

const PAGE = 50;

export function Shares() {
  const loaded = useLoaded(`shares${query({ limit: PAGE })}`);
  const shares = loaded.data?.shares ?? [];
  const drop = (id) => loaded.change({ ...loaded.data, shares: shares.filter((one) => one.id !== id) });
  return html`<section><h2>Shared by you</h2>
    ${!loaded.data ? html`<${Loading} state=${loaded} retry=${loaded.retry} />` : html`
      ${shares.length === 0 ? html`<p class="faint">Nothing. A link that you make with Share is listed here until it ends.</p>`
        : html`<ul class="conversations shares">${shares.map((one) => html`<${Share} key=${one.id} one=${one} drop=${() => drop(one.id)} />`)}</ul>`}
      <${More} loaded=${loaded} list="shares" />`}
  </section>`;
}

function Share({ one, drop }) {
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    setBusy(true);
    try {
      await request(`shares/${encodeURIComponent(one.id)}`, { method: "DELETE" });
      notify("The link does not work any more.");
      drop();
    } catch (problem) {
      // It has ended already, perhaps in another tab.
      if (problem.status === 404) drop();
      else {
        setBusy(false);
        notify(`Still shared. ${plain(problem.message)}`);
      }
    }
  };
  const title = one.is_withheld ? "Hidden: you may not run its query any more" : one.question;
  return html`<li>
    <a class="conversation-link" href=${href("share", one.id)}><span class="conversation-title"><${Text} value=${title} /></span>
      <span class="faint">shared ${formatTime(one.shared_at)} · ${one.ends_at ? `ends ${formatTime(one.ends_at)}` : "does not end by itself"} · <${Text} value=${one.database} /></span></a>
    <span class="conversation-tools"><${Button} disabled=${busy} onClick=${stop}>Stop sharing</${Button}></span>
  </li>`;
}
