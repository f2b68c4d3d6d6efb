/**
 * A chart of a result. Vega-Lite is loaded when the first chart is opened. Expressions are read by
 * an interpreter (no eval), nothing is loaded, and the drawing is a canvas.
 */

import { html, signal, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { listChoices, MOST_ROWS, readRoles, suggestChart } from "../chart/rule.js";
import { buildSpec } from "../chart/spec.js";
import { saveBlob } from "../core/files.js";
import { nameColumns, writeWords } from "../core/format.js";
import { count, plain } from "../core/text.js";
import { Button, Segments } from "./controls.js";
import { notify } from "./notices.js";

/** Whether the reader's system is dark: a chart is drawn rather than styled. */
const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const dark = signal(SYSTEM.matches);
SYSTEM.addEventListener("change", () => (dark.value = SYSTEM.matches));

const MARKS = [["bar", "Bars"], ["line", "Lines"]];

const nothingIsLoaded = {
  load: () => Promise.reject(new Error("Charts load nothing.")),
  sanitize: () => Promise.reject(new Error("Charts have no links.")),
  http: () => Promise.reject(new Error("Charts load nothing.")),
  file: () => Promise.reject(new Error("Charts load nothing.")),
};

function readLook() {
  const style = getComputedStyle(document.documentElement);
  const probe = document.createElement("span");
  document.body.append(probe);
  // light-dark() and color-mix() are resolved only in a property, not in a custom one.
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const look = { ink: read("ink"), faint: read("faint"), line: read("line"), accent: read("accent"), paper: read("paper"), font: getComputedStyle(document.body).fontFamily || style.fontFamily };
  look.series = Array.from({ length: 10 }, (_, at) => read(`series-${at + 1}`));
  probe.remove();
  return look;
}

/** Numbers of the axes in the reader's locale. */
function buildLocale(vega) {
  const parts = new Intl.NumberFormat(undefined, { useGrouping: true }).formatToParts(1234567.8);
  const find = (type, other) => parts.find((part) => part.type === type)?.value ?? other;
  const names = (unit, length, total, start) => Array.from({ length: total }, (_, at) =>
    new Intl.DateTimeFormat(undefined, { [unit]: length, timeZone: "UTC" }).format(new Date(Date.UTC(2023, unit === "month" ? at : 0, unit === "month" ? 1 : at + start))));
  return vega.locale(
    { decimal: find("decimal", "."), thousands: find("group", ""), grouping: [3], currency: ["", ""] },
    {
      dateTime: "%x, %X", date: "%d.%m.%Y", time: "%H:%M:%S", periods: ["AM", "PM"],
      days: names("weekday", "long", 7, 1), shortDays: names("weekday", "short", 7, 1),
      months: names("month", "long", 12), shortMonths: names("month", "short", 12),
    },
  );
}

/** Draws into an element of its own: two drawings that overlap in time never share one. */
async function draw(width, chart, result, roles) {
  const vega = await import("../../vendor/vega.js");
  const look = readLook();
  const spec = buildSpec(chart, result, roles, look, { width, height: Math.round(Math.min(420, Math.max(240, width * 0.42))) });
  const { spec: compiled } = vega.compile(spec, { logger: silent });
  const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
    expr: vega.expressionInterpreter, loader: nothingIsLoaded, renderer: "canvas", logLevel: vega.Warn, logger: silent, locale: buildLocale(vega), hover: false,
  });
  const stage = document.createElement("div");
  await view.initialize(stage).runAsync();
  const canvas = stage.querySelector("canvas");
  canvas.classList.add("chart-canvas");
  canvas.setAttribute("aria-hidden", "true");
  return { view, stage };
}
const silent = { level: () => silent, error: () => silent, warn: () => silent, info: () => silent, debug: () => silent };

/** Whether the rows suggest a chart. */
export function useChart(columns, rows) {
  const roles = useMemo(() => readRoles(columns, rows), [columns, rows]);
  return { roles, suggested: useMemo(() => suggestChart(roles, rows.length), [roles, rows]) };
}

export function ChartView({ question, columns, rows, roles, suggested }) {
  const host = useRef(null);
  const drawn = useRef(null);
  const [chart, setChart] = useState(suggested);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(true);
  const [width, setWidth] = useState(0);
  const choices = useMemo(() => listChoices(roles), [roles]);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    watcher.observe(host.current);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    if (!width) return undefined;
    let isCurrent = true;
    draw(Math.max(260, width), chart, { question, columns, rows }, roles).then(
      ({ view, stage }) => {
        if (!isCurrent) return void view.finalize();
        drawn.current?.finalize();
        drawn.current = view;
        host.current.replaceChildren(stage);
        setBusy(false);
        setProblem("");
      },
      (error) => {
        setBusy(false);
        setProblem(error.message);
      },
    );
    return () => (isCurrent = false);
  }, [chart, question, columns, rows, width, dark.value]);
  useEffect(() => () => drawn.current?.finalize(), []);
  const names = useMemo(() => nameColumns(columns).map((text) => plain(writeWords(text))), [columns]);
  const name = (at) => names[at];
  const save = async (kind) => {
    const view = drawn.current;
    if (!view) return;
    if (kind === "svg") saveBlob(new Blob([await view.toSVG()], { type: "image/svg+xml" }), question, "svg");
    else (await view.toCanvas(2)).toBlob((blob) => saveBlob(blob, question, "png"));
    notify("Saved the chart");
  };
  return html`<figure class="chart" aria-label=${describe(chart, rows, name)}>
    <div class="chart-tools">
      <${Segments} label="Kind of chart" options=${MARKS} chosen=${chart.mark} choose=${(mark) => setChart({ ...chart, mark })} />
      <${Choice} label="By" value=${chart.x} options=${choices.x} name=${name} pick=${(x) => setChart({ ...chart, x })} />
      <${Choice} label="Shows" value=${chart.y[0]} options=${choices.y} name=${name} pick=${(y) => setChart({ ...chart, y: [y] })} />
      ${choices.color.length > 0 && html`<${Choice} label="Colour" value=${chart.color ?? -1} options=${choices.color} none="none" name=${name} pick=${(color) => setChart({ ...chart, color: color < 0 ? null : color, y: chart.y.slice(0, 1) })} />`}
      <span class="tools">
        <${Button} label="Save the chart as PNG" onClick=${() => save("png")}>PNG</${Button}>
        <${Button} label="Save the chart as SVG" onClick=${() => save("svg")}>SVG</${Button}>
      </span>
    </div>
    <div class="chart-host" ref=${host}></div>
    ${busy && html`<p class="faint" role="status">Drawing …</p>`}
    ${problem && html`<p class="problem" role="alert">This chart cannot be drawn. The table has all rows.</p>`}
    <figcaption class="faint">${describe(chart, rows, name)} This kind was chosen by the types of the columns; the table has the exact values.</figcaption>
  </figure>`;
}

function Choice({ label, value, options, none, name, pick }) {
  return html`<label class="choice"><span>${label}</span><select value=${value} onChange=${(event) => pick(Number(event.target.value))}>
    ${none && html`<option value=${-1}>${none}</option>`}${options.map((at) => html`<option value=${at}>${name(at)}</option>`)}
  </select></label>`;
}

function describe(chart, rows, name) {
  const kind = MARKS.find(([mark]) => mark === chart.mark)[1];
  const what = `of ${chart.y.map(name).join(", ")} by ${name(chart.x)}`;
  const color = chart.color === null ? "" : `, coloured by ${name(chart.color)}`;
  const part = rows.length > MOST_ROWS ? ` Only the first ${count(MOST_ROWS, "row")} are drawn.` : "";
  return `${kind} ${what}${color}; ${count(rows.length, "row")}.${part}`;
}
