/**
 * The table of a result: sorted, filtered, columns chosen, cells copied; only the rows in sight are
 * elements, so that 10,000 do not stutter. A native table: readers know its rows and columns.
 */

import { html, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { copyText } from "../core/files.js";
import { buildFormat, exact, formatNumber, nameColumns } from "../core/format.js";
import { count, plain } from "../core/text.js";
import { Dialog } from "./controls.js";
import { announce, notify } from "./notices.js";
import { buildFilter, measureWidths, sortRows } from "./table_rows.js";
import { Block, Text } from "./text.js";

const ROW_PX = 36;
const SPARE_ROWS = 12;

/** State of a table that its tools share: what is sorted, filtered and shown. */
export function useTable(columns, rows) {
  const formats = useMemo(() => columns.map((column, at) => buildFormat(column, rows.slice(0, 500).map((row) => row[at]))), [columns, rows]);
  const names = useMemo(() => nameColumns(columns), [columns]);
  const [sort, setSort] = useState(null);
  const [filter, setFilter] = useState({ text: "", at: -1 });
  const [hidden, setHidden] = useState(() => new Set());
  const select = useMemo(() => buildFilter(rows, formats), [rows, formats]);
  const found = useMemo(() => select(filter.text, filter.at), [select, filter]);
  const order = useMemo(() => sortRows(rows, found, sort, sort && formats[sort.at].kind), [rows, found, sort, formats]);
  const shown = useMemo(() => columns.map((_, at) => at).filter((at) => !hidden.has(at)), [columns, hidden]);
  const toggle = (at) => {
    const next = new Set(hidden);
    if (!next.delete(at)) next.add(at);
    if (next.size < columns.length) setHidden(next);
  };
  return { columns, names, rows, formats, sort, setSort, filter, setFilter, hidden, toggle, order, shown };
}

/** What is shown, as columns and rows: for copying. */
export function readShown({ columns, rows, order, shown }) {
  return { columns: shown.map((at) => columns[at]), rows: order.map((row) => shown.map((at) => rows[row][at])) };
}

function nextSort(sort, at, isAmount) {
  if (sort?.at !== at) return { at, descending: isAmount };
  return sort.descending === isAmount ? { at, descending: !isAmount } : null;
}

function Head({ table, active }) {
  const { columns, names, formats, sort, setSort, shown } = table;
  const change = (at) => {
    const next = nextSort(sort, at, formats[at].isAmount);
    setSort(next);
    announce(next ? `Sorted by ${plain(names[at])}, ${next.descending ? "highest first" : "lowest first"}` : "In the order of the answer");
  };
  return html`<thead><tr aria-rowindex="1">
    ${shown.map((at, place) => {
      const direction = sort?.at === at ? (sort.descending ? "descending" : "ascending") : "none";
      return html`<th scope="col" key=${at} aria-sort=${direction} class=${formats[at].kind === "number" ? "number" : ""}>
        <button type="button" data-row="-1" data-place=${place} tabindex=${active.row === -1 && active.place === place ? 0 : -1}
          title=${`${plain(names[at])}${columns[at].type ? ` · ${plain(columns[at].type)}` : ""} · sort`} onClick=${() => change(at)}>
          <${Text} value=${names[at]} /><span class=${`sort ${direction}`} aria-hidden="true"></span>
        </button></th>`;
    })}
  </tr></thead>`;
}

function Cell({ value, format, isCut, ...place }) {
  if (value === null || value === undefined) {
    return html`<td class="empty" ...${place} title="no value (NULL)"><span aria-hidden="true">–</span><span class="off-screen">no value</span></td>`;
  }
  const shown = format.write(value);
  const text = exact(value);
  const title = shown === text && text.length < 24 ? undefined : plain(text);
  return html`<td class=${format.kind === "number" ? "number" : ""} title=${title} ...${place}><${Text} value=${shown} />${isCut && html`<span class="cut" title="The service cut this text off">…</span>`}</td>`;
}

function useActiveCell(table, scroller) {
  const [active, setActive] = useState({ row: -1, place: 0 });
  const focusing = useRef(false);
  // Before the next key is read: keys may come faster than the screen is drawn.
  useLayoutEffect(() => {
    if (!focusing.current) return;
    const element = scroller.current?.querySelector(`[data-row="${active.row}"][data-place="${active.place}"]`);
    // A row far away becomes an element only when the table has scrolled to it.
    if (!element) return;
    focusing.current = false;
    element.focus({ preventScroll: active.row >= 0 });
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  const move = (row, place) => {
    const next = {
      row: Math.max(-1, Math.min(table.order.length - 1, row)),
      place: Math.max(0, Math.min(table.shown.length - 1, place)),
    };
    focusing.current = true;
    setActive(next);
    const box = scroller.current;
    const top = next.row * ROW_PX;
    if (next.row >= 0 && top < box.scrollTop) box.scrollTop = top;
    if (next.row >= 0 && top + 2 * ROW_PX > box.scrollTop + box.clientHeight - ROW_PX / 2) box.scrollTop = top + 2.5 * ROW_PX - box.clientHeight;
  };
  return { active, move, setActive };
}

/**
 * @param {{table: ReturnType<typeof useTable>, cut?: number[][], label: string}} props
 */
export function ResultTable({ table, cut = [], label }) {
  const { columns, names, rows, formats, order, shown } = table;
  const scroller = useRef(null);
  const [first, setFirst] = useState(0);
  const [opened, setOpened] = useState(null);
  const { active, move, setActive } = useActiveCell(table, scroller);
  const widths = useMemo(() => measureWidths(names, rows, formats), [names, rows, formats]);
  const cuts = useMemo(() => new Set(cut.map(([row, at]) => `${row},${at}`)), [cut]);
  const height = scroller.current?.clientHeight || 560;
  const visible = Math.ceil(height / ROW_PX) + 2 * SPARE_ROWS;
  const start = Math.max(0, Math.min(first, order.length - visible));
  const end = Math.min(order.length, start + visible);

  const follow = () => {
    const next = Math.max(0, Math.floor(scroller.current.scrollTop / ROW_PX) - SPARE_ROWS);
    if (Math.abs(next - first) >= SPARE_ROWS / 2 || next === 0) setFirst(next);
  };
  const open = (row, place) => row >= 0 && setOpened({ row: order[row], at: shown[place] });
  const copyCell = async ({ row, place }) => {
    const value = row < 0 ? columns[shown[place]].name : rows[order[row]][shown[place]];
    await copyText(exact(value));
    notify("Copied the cell");
  };
  const press = (event) => {
    const { row, place } = active;
    const page = Math.max(1, Math.floor(height / ROW_PX) - 2);
    const target = {
      ArrowDown: [row + 1, place], ArrowUp: [row - 1, place], ArrowLeft: [row, place - 1], ArrowRight: [row, place + 1],
      PageDown: [row + page, place], PageUp: [Math.max(0, row - page), place],
      Home: event.ctrlKey ? [0, place] : [row, 0], End: event.ctrlKey ? [order.length - 1, place] : [row, shown.length - 1],
    }[event.key];
    if (target && !event.altKey && !event.metaKey) move(...target);
    else if (event.key === "Enter" && row >= 0) open(row, place);
    else if (event.key === "c" && (event.ctrlKey || event.metaKey) && !String(getSelection())) copyCell(active);
    else return;
    event.preventDefault();
  };
  const place = (target) => {
    const cell = target.closest?.("[data-row]");
    return cell ? { row: Number(cell.dataset.row), place: Number(cell.dataset.place) } : null;
  };
  const click = (event) => {
    const at = place(event.target);
    if (at && at.row >= 0 && !String(getSelection())) move(at.row, at.place);
  };
  const focus = (event) => {
    const at = place(event.target);
    if (at && (at.row !== active.row || at.place !== active.place)) setActive(at);
  };
  const activeSeen = active.row === -1 || (active.row >= start && active.row < end);
  return html`<div class="table-frame">
    <div class="scroller" ref=${scroller} onScroll=${follow} onKeyDown=${press} onClick=${click} onFocusIn=${focus}
      onDblClick=${(event) => { const at = place(event.target); if (at) open(at.row, at.place); }}>
      <table class="result" aria-rowcount=${order.length + 1} aria-colcount=${shown.length} aria-label=${label} style=${{ width: `${shown.reduce((sum, at) => sum + widths[at], 0)}px` }}>
        <colgroup>${shown.map((at) => html`<col key=${at} style=${{ width: `${widths[at]}px` }} />`)}</colgroup>
        <${Head} table=${table} active=${activeSeen ? active : { row: -1, place: 0 }} />
        <tbody>
          ${start > 0 && html`<tr aria-hidden="true" class="spacer"><td colspan=${shown.length} style=${{ height: `${start * ROW_PX}px` }}></td></tr>`}
          ${order.slice(start, end).map((row, offset) => html`<tr key=${row} aria-rowindex=${start + offset + 2}>
            ${shown.map((at, number) => html`<${Cell} key=${at} value=${rows[row][at]} format=${formats[at]} isCut=${cuts.has(`${row},${at}`)}
              data-row=${start + offset} data-place=${number} tabindex=${active.row === start + offset && active.place === number ? 0 : -1} />`)}
          </tr>`)}
          ${end < order.length && html`<tr aria-hidden="true" class="spacer"><td colspan=${shown.length} style=${{ height: `${(order.length - end) * ROW_PX}px` }}></td></tr>`}
        </tbody>
      </table>
      ${order.length === 0 && html`<p class="no-rows">${rows.length ? "No row contains this." : "No rows."}</p>`}
    </div>
    ${opened && html`<${CellDialog} name=${names[opened.at]} column=${columns[opened.at]} value=${rows[opened.row][opened.at]} close=${() => setOpened(null)} />`}
  </div>`;
}

function CellDialog({ name, column, value, close }) {
  return html`<${Dialog} title=${html`<${Text} value=${name} />`} close=${close}>
    ${value === null ? html`<p class="faint">No value (NULL).</p>` : html`<${Block} value=${exact(value)} label="The whole cell" />`}
    <p class="faint">Type <${Text} value=${column.type || "unknown"} /></p>
    <button type="button" class="button" onClick=${async () => { await copyText(exact(value)); notify("Copied the cell"); }}>Copy</button>
  <//>`;
}

/** "1,204 of 10,000 rows", and whether there are more. */
export function describeRows(table, truncated) {
  const { order, rows } = table;
  const all = count(rows.length, "row");
  const text = order.length === rows.length ? all : `${formatNumber(order.length)} of ${all}`;
  return truncated ? `${text}; there are more` : text;
}
