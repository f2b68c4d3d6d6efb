/** Buttons, menus, choices and dialogs: native elements with the page's look and keys. */

import { html, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./icons.js";

/** A button with an icon and a word. */
export function Button({ icon, children, kind = "", label, ...more }) {
  return html`<button type="button" class=${`button ${kind}`} aria-label=${label} title=${label} ...${more}>
    ${icon && html`<${Icon} name=${icon} />`}${children && html`<span>${children}</span>`}
  </button>`;
}

/**
 * A button that opens a list of actions; Escape closes it. `children` is a function of `close` that gives the content.
 */
export function Menu({ label, icon, children }) {
  const [open, setOpen] = useState(false);
  const root = useRef(null);
  const id = useId();
  const close = () => {
    setOpen(false);
    root.current?.querySelector("button").focus();
  };
  useLayoutEffect(() => {
    if (!open) return undefined;
    root.current.querySelector(".menu-list button, .menu-list input")?.focus();
    const leave = (event) => !root.current?.contains(event.target) && setOpen(false);
    // A click on a label gives the focus to what is around the menu for a moment.
    const move = (event) => !event.target.contains?.(root.current) && leave(event);
    addEventListener("pointerdown", leave);
    addEventListener("focusin", move);
    return () => {
      removeEventListener("pointerdown", leave);
      removeEventListener("focusin", move);
    };
  }, [open]);
  const leaveByKey = (event) => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    close();
  };
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const items = [...root.current.querySelectorAll(".menu-list button, .menu-list input")];
    items.at((items.indexOf(document.activeElement) + step) % items.length)?.focus();
  };
  return html`<div class="menu" ref=${root} onKeyDown=${leaveByKey}>
    <button type="button" class="button" aria-expanded=${open} aria-controls=${id} onClick=${() => setOpen(!open)}>
      <${Icon} name=${icon} /><span>${label}</span>
    </button>
    <div id=${id} class="menu-list" hidden=${!open} onKeyDown=${move}>${open && children(close)}</div>
  </div>`;
}

/**
 * A choice of one among a few.
 * @param {{label: string, options: [string, string][], chosen: string, choose: (value: string) => void}} props values with their labels
 */
export function Segments({ label, options, chosen, choose }) {
  return html`<div class="segments" role="group" aria-label=${label}>
    ${options.map(([value, text]) => html`<button type="button" key=${value} aria-pressed=${value === chosen} onClick=${() => choose(value)}>${text}</button>`)}
  </div>`;
}

/** A modal dialog; Escape and a click beside it close it. */
export function Dialog({ title, close, children }) {
  const element = useRef(null);
  const id = useId();
  useLayoutEffect(() => {
    const opener = document.activeElement;
    element.current.showModal();
    return () => opener?.isConnected && opener.focus?.();
  }, []);
  return html`<dialog ref=${element} aria-labelledby=${id} onCancel=${(event) => { event.preventDefault(); close(); }}
    onClick=${(event) => event.target === element.current && close()}>
    <div class="dialog-body">
      <header><h2 id=${id}>${title}</h2><${Button} icon="close" label="Close" kind="quiet" onClick=${close} /></header>
      ${children}
    </div>
  </dialog>`;
}

/** A bar of a share from 0 to 1; the words beside it say the same. Without a share: something goes on, and nobody knows how far. */
export function Bar({ share, kind = "" }) {
  if (share === undefined) return html`<span class="bar unknown" aria-hidden="true"><span></span></span>`;
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return html`<span class=${`bar ${kind}`} aria-hidden="true"><span style=${{ width }}></span></span>`;
}

/** Brings a panel that was just opened into sight, if little of it is. */
export function showPanel(element) {
  if (element.getBoundingClientRect().top < innerHeight * 0.45) return;
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block: "start", behavior: isCalm ? "auto" : "smooth" });
}
