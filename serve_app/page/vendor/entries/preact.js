// Preact, its hooks, signals and htm in one file: the page needs one instance of each.
import { h } from "preact";
import htm from "htm";

export { createContext, Fragment, h, render } from "preact";
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, untracked, useComputed, useSignal } from "@preact/signals";
export const html = htm.bind(h);
