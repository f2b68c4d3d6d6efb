/** The values under the pointer: what the rows say there, as the table writes it, and as text only. */

import { html, render } from "../../vendor/preact.js";
import { buildFormat, exact, nameColumns } from "../core/format.js";
import { Text } from "../components/text.js";

const REACH = 28;

/** What there is to say of a place in the drawing, from its datum. */
function buildDescriber(chart, { columns, rows }) {
  const sample = rows.slice(0, 200);
  const names = nameColumns(columns);
  const formats = new Map();
  const write = (at, value) => {
    if (!formats.has(at)) formats.set(at, buildFormat(columns[at], sample.map((row) => row[at])));
    return value === null || value === undefined ? "–" : (formats.get(at).write(value) ?? exact(value));
  };
  return (datum) => {
    const shown = [chart.x, ...(chart.color === null ? [] : [chart.color]), ...(datum.series === undefined ? chart.y : [datum.series])];
    return [...new Set(shown)].map((at) => [names[at], write(at, rows[datum.row][at])]);
  };
}

/** The datum nearest to a place, among those that are drawn as points; null if none is near. */
function findNearest(view, data, [left, top]) {
  const [x, y] = [view.scale("x"), view.scale("y")];
  const half = typeof x.bandwidth === "function" ? x.bandwidth() / 2 : 0;
  let best = null;
  let least = REACH ** 2;
  for (const datum of data) {
    const distance = (x(datum.x) + half - left) ** 2 + (y(datum.y) - top) ** 2;
    if (distance < least) [best, least] = [datum, distance];
  }
  return best;
}

/**
 * Shows the values of what the pointer is on.
 * @param {HTMLElement} stage what the view is drawn in
 * @param {object} view Vega's view
 * @param {import("./rule.js").Chart} chart @param {{columns: object[], rows: unknown[][]}} result
 * @param {object[]} data what is drawn
 */
export function showValues(stage, view, chart, result, data) {
  const describe = buildDescriber(chart, result);
  const tip = document.createElement("dl");
  tip.className = "chart-values";
  tip.hidden = true;
  // The same values stand in the table, where a screen reader finds them.
  tip.setAttribute("aria-hidden", "true");
  stage.append(tip);
  const isArea = chart.mark === "bar";
  view.addEventListener("pointermove", (event, item) => {
    const box = stage.getBoundingClientRect();
    const drawing = stage.querySelector("canvas").getBoundingClientRect();
    const origin = view.origin();
    const place = [event.clientX - drawing.left - origin[0], event.clientY - drawing.top - origin[1]];
    const datum = isArea ? (item?.mark?.marktype === "rect" && item.datum) || null : findNearest(view, data, place);
    tip.hidden = !datum;
    if (!datum) return;
    render(describe(datum).map(([name, value]) => html`<dt><${Text} value=${name} /></dt><dd><${Text} value=${value} /></dd>`), tip);
    const left = event.clientX - box.left + 14;
    tip.style.left = `${Math.max(0, Math.min(left, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${Math.max(0, event.clientY - box.top - tip.offsetHeight - 10)}px`;
  });
  stage.onpointerleave = () => (tip.hidden = true);
}
