/**
 * The Vega-Lite specification of a chart. Fields are named x, y, color, told and values are the rows, so that
 * no name and no value of the data is ever part of an expression, a format or a link.
 */

import { plain } from "../core/text.js";
import { buildFormat, exact, nameColumns, readTime, startLarge, writeWords } from "../core/format.js";
import { MOST_ROWS } from "./rule.js";
import { countWide } from "../components/table_rows.js";

// Of the width or height, the most that the title of an axis takes: longer ones would leave no room for the drawing.
const TITLE_SHARE = 0.5;
const MOST_LINES = 3;
const TITLE_PX = 14;
const LETTER_PX = TITLE_PX * 0.56;

function readValue(role, value) {
  if (value === null || value === undefined) return role.role === "amount" ? null : "—";
  if (role.role === "amount") return Number(value);
  return role.role === "moment" ? readTime(value) : plain(value);
}

/** The rows of the chart as objects; several amounts become series. `told` is the text under the pointer. */
function buildValues(chart, rows, roles, columns, name) {
  const read = (row, at) => readValue(roles[at], row[at]);
  const formats = columns.map((column, at) => buildFormat(column, rows.slice(0, 200).map((row) => row[at])));
  const tell = (row, at) => `${name(at)}: ${plain(row[at] === null ? "–" : (formats[at].write(row[at]) ?? exact(row[at])))}`;
  const dimensions = [chart.x, ...(chart.color === null ? [] : [chart.color])];
  return rows.slice(0, MOST_ROWS).flatMap((row) => {
    const base = { x: read(row, chart.x), ...(chart.color !== null && { color: read(row, chart.color) }) };
    return chart.y.map((at) => ({ ...base, y: read(row, at), told: [...dimensions, at].map((each) => tell(row, each)).join("\n"), ...(chart.y.length > 1 && { color: name(at) }) }));
  });
}

/**
 * @param {import("./rule.js").Chart} chart
 * @param {{question?: string, columns: object[], rows: unknown[][]}} result the question is the title
 * @param {import("./rule.js").Role[]} roles
 * @param {{ink: string, faint: string, line: string, accent: string, paper: string, series: string[], font: string}} look
 * @param {{width: number, height: number}} size in pixels
 */
export function buildSpec(chart, { question = "", columns, rows }, roles, look, size) {
  const names = nameColumns(columns).map((text) => plain(startLarge(writeWords(text))));
  const name = (at) => names[at];
  const values = buildValues(chart, rows, roles, columns, name);
  const hasColor = chart.color !== null || chart.y.length > 1;
  const x = { field: "x", type: roles[chart.x].role === "moment" ? "temporal" : "nominal", title: name(chart.x), axis: { labelOverlap: true, grid: false } };
  const y = { field: "y", type: "quantitative", title: chart.y.length === 1 ? name(chart.y[0]) : null, axis: { tickCount: 5, domain: false } };
  const color = hasColor
    ? { field: "color", type: "nominal", title: chart.color === null ? null : name(chart.color), scale: { range: look.series }, legend: { orient: "top", columns: 4 } }
    : { value: look.accent };
  const spec = { ...frame(look, size, breakTitle(question, size.width - 16)), data: { values }, encoding: { x, y, color, tooltip: { field: "told", type: "nominal" } } };
  if (x.type === "temporal") Object.assign(x, describeTime(values));
  if (chart.mark === "line") {
    if (x.type === "nominal") Object.assign(x, { type: "ordinal", axis: { ...x.axis, labelAngle: 0 } });
    return { ...spec, mark: { type: "line", point: values.length <= 60 ? { size: 34, filled: true } : false, strokeWidth: 2.2 } };
  }
  return lieDown(spec, x, y, values, hasColor);
}

const DAY_MS = 86_400_000;

/** Times are drawn as they stand in the data (UTC), with labels that fit their distance. */
function describeTime(values) {
  const times = [...new Set(values.map((value) => value.x).filter((value) => typeof value === "number" && !Number.isNaN(value)))];
  const span = Math.max(...times) - Math.min(...times);
  const isMonthly = times.every((time) => new Date(time).getUTCDate() === 1 && time % DAY_MS === 0);
  const format = span > 6 * 365 * DAY_MS ? "%Y" : isMonthly || span > 400 * DAY_MS ? "%b %Y" : span > 2 * DAY_MS ? "%d %b" : "%H:%M";
  const exactTimes = times.length <= 14 ? { values: times } : { tickCount: 8 };
  return { scale: { type: "utc" }, axis: { labelOverlap: true, grid: false, format, ...exactTimes } };
}

/** Bars lie down where their names are texts, so that the names can be read. */
function lieDown(spec, x, y, values, hasColor) {
  const names = new Set(values.map((value) => value.x));
  const isLying = x.type === "nominal" && (names.size > 6 || [...names].some((name) => String(name).length > 9));
  x.sort = null;
  const mark = { type: "bar", cornerRadiusEnd: 3, ...(x.type !== "temporal" && !hasColor && { height: { band: 0.72 }, width: { band: 0.72 } }) };
  if (!isLying) return { ...spec, mark, encoding: { ...spec.encoding, x: { ...x, axis: { ...x.axis, labelAngle: names.size > 8 ? -40 : 0 } } } };
  const height = Math.max(spec.height * 0.6, names.size * 26);
  return {
    ...spec, mark, height,
    // The last label of the axis above may reach beyond it.
    padding: { left: 8, top: 8, bottom: 8, right: 28 },
    encoding: { ...spec.encoding, y: { ...x, axis: { grid: false, domain: false, ticks: false, labelPadding: 8, labelLimit: Math.min(180, spec.width * 0.4), titleLimit: height * TITLE_SHARE } }, x: { ...y, axis: { ...y.axis, orient: "top" } } },
  };
}

/** The question in lines that fit a width in pixels, as a text and nothing else. */
function breakTitle(question, width) {
  const room = Math.max(12, Math.floor(width / LETTER_PX));
  const lines = [];
  for (const word of plain(question).split(/\s+/).filter(Boolean)) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length && countWide(longer) <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const kept = lines.slice(0, MOST_LINES);
  if (lines.length > MOST_LINES) kept[MOST_LINES - 1] += " …";
  return kept;
}

function frame(look, size, title) {
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: size.width,
    height: size.height + title.length * TITLE_PX * 1.3,
    ...(title.length > 0 && { title: { text: title, anchor: "start", frame: "bounds", offset: 14, limit: size.width - 16, color: look.ink, fontSize: TITLE_PX, fontWeight: 600, lineHeight: TITLE_PX * 1.3 } }),
    autosize: { type: "fit", contains: "padding" },
    background: look.paper,
    padding: 8,
    config: {
      font: look.font,
      view: { stroke: null },
      axis: {
        labelColor: look.faint, titleColor: look.faint, gridColor: look.line, domainColor: look.line, tickColor: look.line,
        labelFontSize: 12, titleFontSize: 12, titleFontWeight: 500, titlePadding: 10, labelPadding: 6,
      },
      axisX: { titleLimit: size.width * TITLE_SHARE },
      axisY: { titleLimit: size.height * TITLE_SHARE },
      legend: { labelColor: look.ink, titleColor: look.faint, labelFontSize: 12, titleFontSize: 12, symbolType: "circle" },
    },
  };
}
