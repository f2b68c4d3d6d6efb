/**
 * Small graphs of tables as SVG: layers from left to right, names as text. What they show stands
 * below them as a list too.
 */

import { html } from "../../vendor/preact.js";
import { plain } from "../core/text.js";

const WIDE = 168;
const HIGH = 38;
const GAP_X = 92;
const GAP_Y = 18;
const MOST_CHARS = 21;

const shorten = (text) => (text.length > MOST_CHARS ? `…${text.slice(text.length - MOST_CHARS + 1)}` : text);

/**
 * @typedef {{id: string, layer: number, isMain?: boolean}} Node
 * @typedef {{from: string, to: string, label?: string}} Edge
 * @param {{nodes: Node[], edges: Edge[], label: string, open?: (id: string) => void}} props
 */
export function Graph({ nodes, edges, label, open }) {
  const layers = [...new Set(nodes.map((node) => node.layer))].sort((a, b) => a - b);
  const columns = layers.map((layer) => nodes.filter((node) => node.layer === layer));
  const most = Math.max(1, ...columns.map((column) => column.length));
  const width = columns.length * WIDE + (columns.length - 1) * GAP_X + 4;
  const height = most * HIGH + (most - 1) * GAP_Y + 4;
  const places = new Map();
  columns.forEach((column, x) => {
    const top = (height - (column.length * HIGH + (column.length - 1) * GAP_Y)) / 2;
    column.forEach((node, y) => places.set(node.id, { x: 2 + x * (WIDE + GAP_X), y: top + y * (HIGH + GAP_Y) }));
  });
  return html`<div class="graph"><svg viewBox=${`0 0 ${width} ${height}`} width=${width} height=${height} role="group" aria-label=${label}>
    ${edges.map((edge) => html`<${Line} from=${places.get(edge.from)} to=${places.get(edge.to)} label=${edge.label} />`)}
    ${nodes.map((node) => html`<${Box} key=${node.id} node=${node} place=${places.get(node.id)} open=${open} />`)}
  </svg></div>`;
}

function Line({ from, to, label }) {
  if (!from || !to) return null;
  const [left, right] = from.x <= to.x ? [from, to] : [to, from];
  const start = { x: left.x + WIDE, y: left.y + HIGH / 2 };
  const end = { x: right.x, y: right.y + HIGH / 2 };
  if (left.x === right.x) Object.assign(start, { x: left.x + WIDE / 2, y: Math.min(left.y, right.y) + HIGH }) && Object.assign(end, { x: left.x + WIDE / 2, y: Math.max(left.y, right.y) });
  const bend = left.x === right.x ? 0 : (end.x - start.x) / 2;
  return html`<g class="edge"><title>${plain(label ?? "")}</title><path d=${`M${start.x} ${start.y}C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`} /></g>`;
}

function Box({ node, place, open }) {
  const name = plain(node.id);
  const act = open && !node.isMain ? { role: "button", tabindex: 0, onClick: () => open(node.id), onKeyDown: (event) => ["Enter", " "].includes(event.key) && (event.preventDefault(), open(node.id)) } : {};
  return html`<g class=${`node ${node.isMain ? "main" : ""} ${act.role ? "can-open" : ""}`} transform=${`translate(${place.x} ${place.y})`} aria-label=${name} ...${act}>
    <title>${name}</title>
    <rect width=${WIDE} height=${HIGH} rx="9" /><text x=${WIDE / 2} y=${HIGH / 2 + 4.5} text-anchor="middle">${shorten(name)}</text>
  </g>`;
}

const JOIN = /^(?:FROM|(?:LEFT |INNER )?JOIN)\s+(\S+)(?:\s+AS\s+(\S+))?(?:\s+ON\s+(.+))?$/i;

/**
 * The tables and joins of a skeleton such as "FROM a\nJOIN b ON b.x = a.y".
 * @returns {{nodes: Node[], edges: Edge[]}}
 */
export function readSkeleton(skeleton) {
  const nodes = [];
  const edges = [];
  for (const line of String(skeleton ?? "").split("\n")) {
    const found = line.trim().match(JOIN);
    if (!found) continue;
    const [, table, alias, condition] = found;
    const id = alias ? `${table} (${alias})` : table;
    const names = [alias ?? table, table.split(".").at(-1)];
    const other = condition && nodes.find((node) => node.names.some((name) => condition.includes(`${name}.`)));
    nodes.push({ id, names, layer: other ? other.layer + 1 : 0 });
    if (other) edges.push({ from: other.id, to: id, label: condition });
  }
  return { nodes, edges };
}
