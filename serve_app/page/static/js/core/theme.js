/** Dark or light, as the reader's system is: for what is drawn rather than styled. */

import { signal } from "../../vendor/preact.js";

const SYSTEM = matchMedia("(prefers-color-scheme: dark)");

export const dark = signal(SYSTEM.matches);
SYSTEM.addEventListener("change", () => (dark.value = SYSTEM.matches));
