/** Icons: paths on a grid of 20, drawn in the colour of the text. They only accompany words. */

import { html } from "../../vendor/preact.js";

const PATHS = {
  ask: "M4 5.5h12v7.5H9.5L6 16v-3H4z",
  table: "M3.5 4.5h13v11h-13zM3.5 8.2h13M8 8.2v7.3",
  history: "M10 4a6 6 0 1 1-5.6 3.9M4 4v4h4M10 7v3.4l2.3 1.5",
  person: "M10 10.2a3.1 3.1 0 1 0 0-6.2 3.1 3.1 0 0 0 0 6.2zM4 16.5c.8-2.6 3.1-4 6-4s5.2 1.4 6 4",
  review: "M5 4h10v12H5zM7.7 8h4.6M7.7 11h4.6",
  plus: "M10 4.5v11M4.5 10h11",
  chart: "M4 16V9.5M8 16V5M12 16v-4.5M16 16V7.5",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  download: "M10 4v8.5M6.5 9.3 10 12.7l3.5-3.4M4.5 16h11",
  filter: "M4 5.5h12M6.5 10h7M8.7 14.5h2.6",
  columns: "M4 4.5h12v11H4zM8 4.5v11M12 4.5v11",
  up: "M7 9.5 10 4c1.5 0 2 1.2 1.7 2.3L11.3 8.5H15c1 0 1.6.9 1.3 1.8l-1.2 4.4c-.2.8-.9 1.3-1.7 1.3H7zM7 9.5H4V16h3z",
  down: "M13 10.5 10 16c-1.5 0-2-1.2-1.7-2.3l.4-2.2H5c-1 0-1.6-.9-1.3-1.8l1.2-4.4C5.1 4.5 5.8 4 6.6 4H13zM13 10.5h3V4h-3z",
  why: "M7.3 7.6A2.7 2.7 0 1 1 10 10.3v1.5M10 14.7v.1M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14z",
  edit: "M4.5 15.5 5.3 12l7.7-7.7 2.7 2.7L8 14.7z",
  bin: "M5 6.5h10M8 6.5v-2h4v2M6.2 6.5l.6 9.5h6.4l.6-9.5",
  again: "M15.5 8A6 6 0 1 0 16 11.5M16 4.5V8h-3.5",
  stop: "M6 6h8v8H6z",
  send: "M10 15.5V5M5.5 9.2 10 4.7l4.5 4.5",
  close: "m5.5 5.5 9 9M14.5 5.5l-9 9",
  menu: "M4 6h12M4 10h12M4 14h12",
  check: "m5 10.5 3.3 3.3L15 6.7",
  right: "m8 5.5 4.5 4.5L8 14.5",
  key: "M12.7 11.3a3.5 3.5 0 1 0-3.3-2.2L4.5 14v2h2.3v-1.7h1.7v-1.7h1.3z",
};

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=${PATHS[name]} /></svg>`;
}
