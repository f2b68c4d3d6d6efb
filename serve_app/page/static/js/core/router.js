/**
 * The view that is shown, from the fragment of the address: `#/schema/shop/sales.orders`.
 *
 * A fragment is never sent to a server, so that ids of conversations stay out of its logs.
 */

import { signal } from "../../vendor/preact.js";

/** @typedef {{name: string, parts: string[]}} Route */

function read() {
  const [name, ...parts] = location.hash.replace(/^#\/?/, "").split("/");
  return { name: name || "ask", parts: parts.map(decode) };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @type {import("../../vendor/preact.js").Signal<Route>} */
export const route = signal(read());

addEventListener("hashchange", () => {
  route.value = read();
});

/** The address of a view. */
export function href(name, ...parts) {
  return `#/${[name, ...parts.map(encodeURIComponent)].join("/")}`;
}

export function go(name, ...parts) {
  const target = href(name, ...parts);
  location.hash = target;
  // At once: the event comes later, and what is drawn meanwhile must not be of the old address.
  route.value = read();
}

/** Changes the address without an entry in the browser's history. */
export function replace(name, ...parts) {
  history.replaceState(null, "", href(name, ...parts));
  route.value = read();
}
