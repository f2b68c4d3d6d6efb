/** Why an answer was given: the process in tabs, the short account first. */

import { html, useId, useLayoutEffect, useRef, useState } from "../../../vendor/preact.js";
import { showPanel, TabPanel, Tabs } from "../../components/controls.js";
import { Candidates } from "./candidates.js";
import { Found } from "./found.js";
import { Joins } from "./joins.js";
import { PromptView } from "./prompt.js";
import { Summary } from "./summary.js";
import { Timing } from "./timing.js";

/** @param {{answer: object}} props an answer with its trace */
export function WhyView({ answer }) {
  const { trace } = answer;
  const [chosen, setChosen] = useState("summary");
  const id = useId();
  // Where nothing is answered, the first in rank is spoken of, if it has a result.
  const winner = trace.candidates.find((one) => one.sql === answer.sql) ?? trace.candidates.find((one) => one.rows !== null);
  const isChosen = answer.outcome === "answered";
  const views = {
    summary: ["In short", Summary],
    candidates: ["Queries tried", Candidates, trace.candidates.length],
    found: ["Data found", Found, trace.tables.length],
    joins: ["Joins", Joins],
    prompt: ["Told to the model", PromptView],
    time: ["Time", Timing],
  };
  const tabs = Object.entries(views).map(([key, [label, , count]]) => ({ id: key, label, count }));
  const View = views[chosen][1];
  const root = useRef(null);
  useLayoutEffect(() => {
    root.current.querySelector("[role=tab]").focus({ preventScroll: true });
    showPanel(root.current);
  }, []);
  return html`<section class="panel why" ref=${root} aria-label="Why this answer">
    <${Tabs} label="Parts of the process" tabs=${tabs} chosen=${chosen} choose=${setChosen} panelId=${id} />
    <${TabPanel} id=${id} chosen=${chosen}><${View} answer=${answer} trace=${trace} winner=${winner} isChosen=${isChosen} go=${setChosen} /></${TabPanel}>
  </section>`;
}
