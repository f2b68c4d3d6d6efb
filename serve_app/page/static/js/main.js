/** Starts the page. */

import { html, render } from "../vendor/preact.js";
import { App } from "./app.js";
import { start } from "./core/state.js";

const root = document.getElementById("page");
root.replaceChildren();
render(html`<${App} />`, root);
start();
