/** Dark and light: the system's, unless the reader chose one. Only this choice is stored. */

import { signal } from "../../vendor/preact.js";

const KEY = "quorumsql.theme";
const SYSTEM = matchMedia("(prefers-color-scheme: dark)");

const isDark = () => (document.documentElement.dataset.theme ?? (SYSTEM.matches ? "dark" : "light")) === "dark";

export const dark = signal(isDark());
SYSTEM.addEventListener("change", () => (dark.value = isDark()));

export function switchTheme() {
  const theme = dark.value ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  store(KEY, theme);
  dark.value = isDark();
}

/** Keeps a choice of the reader; nothing that the service said. */
export function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage may be forbidden: the choice then lasts as long as the page.
  }
}

export function recall(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}
