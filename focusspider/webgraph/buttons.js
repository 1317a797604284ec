// The two buttons on each page of a recorded session, and word of which links are clicked.
//
// It runs in a world of its own, beside each document: the page's scripts see neither its
// variables nor what it calls the recorder by. In the page there is one empty element more, of
// a name made for the session; the buttons are in its closed shadow tree, and are drawn above
// the page whatever the page is styled like. What a script does to them is not trusted.
((name, tag) => {
  "use strict";
  const HAND = ["pointerdown", "pointerup", "mousedown", "mouseup", "click", "auxclick",
    "dblclick", "contextmenu", "touchstart", "touchend", "keydown", "keypress", "keyup"];
  const HTML = "http://www.w3.org/1999/xhtml";
  const EDGE = 80; // pixels from the corner of the window in which the buttons must be
  const tell = (what) => globalThis[name](JSON.stringify(what));

  if (globalThis.focusRecorder) return; // both for a new document and at once
  const recorder = globalThis.focusRecorder = { show() {}, remove() {}, dom: () => "" };

  const label = (link) => {
    const image = link.querySelector("img[alt]");
    return (link.innerText || link.textContent || link.title || image?.alt || "").slice(0, 1000);
  };
  const clicked = (event) => {
    if (!event.isTrusted) return;
    const link = event.composedPath().find((node) =>
      node instanceof Element && /^(a|area)$/i.test(node.localName) && node.href);
    if (!link) return;
    const url = typeof link.href === "string" ? link.href : new URL(link.href.baseVal, document.baseURI).href;
    tell({ do: "click", url, anchor: label(link), source: location.href });
  };
  const listen = () => {
    for (const type of ["click", "auxclick"]) addEventListener(type, clicked, true);
  };

  if (window.top !== window) return listen(); // a frame: its links count, it has no buttons

  const host = document.createElementNS(HTML, tag);
  const root = host.attachShadow({ mode: "closed" });
  const style = new CSSStyleSheet(); // unlike <style>, no policy of the page forbids it
  style.replaceSync(`
    :host { all: initial !important; display: block !important; position: fixed !important;
      inset: auto 12px 12px auto !important; width: max-content !important;
      height: max-content !important; overflow: visible !important; opacity: 1 !important;
      visibility: visible !important; pointer-events: auto !important;
      direction: ltr !important; z-index: 2147483647 !important; }
    @media print { :host { display: none !important; } }
    .box { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; padding: 6px;
      font: 13px/1.4 system-ui, sans-serif; color: #222; background: #fffd; border-radius: 8px;
      box-shadow: 0 1px 6px #0006; }
    button { font: inherit; padding: 4px 12px; border: 1px solid #888; border-radius: 5px;
      color: #222; background: #f4f4f4; cursor: pointer; }
    button:disabled { color: #888; cursor: default; }
    button[aria-pressed=true] { color: #fff; background: #1a7f37; border-color: #1a7f37; }
    .move { padding: 4px 6px; border: none; background: none; }
    .said { flex-basis: 100%; width: 0; font-size: 11px; color: #555; }
  `);
  root.adoptedStyleSheets = [style];
  const made = (kind, className, text) => {
    const element = document.createElementNS(HTML, kind);
    element.className = className;
    element.textContent = text;
    return element;
  };
  const box = made("div", "box", "");
  const useful = made("button", "useful", "Useful");
  const submit = made("button", "submit", "Submit");
  const move = made("button", "move", "⇄");
  const said = made("div", "said", "");
  useful.title = "This page is what I am looking for";
  submit.title = "End the session and save it";
  move.title = "Move to the other side";
  for (const button of [useful, submit, move]) button.type = "button";
  useful.disabled = true;
  useful.setAttribute("aria-pressed", "false");
  box.append(useful, submit, move, said);
  root.append(box);
  let left = false;

  const isSeen = () => {
    const { left: from, right: to, bottom } = box.getBoundingClientRect();
    const side = left ? from : document.documentElement.clientWidth - to;
    return host.matches(":popover-open") && side < EDGE && innerHeight - bottom < EDGE
      && box.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const act = (event) => {
    if (!event.isTrusted || !isSeen()) return;
    const byKey = event.detail === 0; // of a click: Enter or space on a button
    const button = byKey ? root.activeElement : root.elementFromPoint(event.clientX, event.clientY);
    if (button === useful && !useful.disabled) {
      tell({ do: useful.getAttribute("aria-pressed") === "true" ? "useless" : "useful" });
    } else if (button === submit) {
      submit.disabled = true;
      tell({ do: "submit" });
    } else if (button === move) {
      left = !left;
      style.insertRule(`:host { inset: auto ${left ? "auto 12px 12px" : "12px 12px auto"} !important; }`,
        style.cssRules.length);
    }
  };
  const taken = (event) => { // what is for a button is not for the page
    if (!event.composedPath().includes(host)) return;
    event.stopImmediatePropagation();
    if (event.type === "mousedown") event.preventDefault(); // the page keeps its focus
    if (event.type === "click") act(event);
  };
  // What is outside of a modal dialog cannot be pressed while that is open.
  const home = () =>
    [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.documentElement;
  const isPut = () => host.isConnected && host.parentNode === home() && host.matches(":popover-open");
  const put = () => {
    for (const type of HAND) addEventListener(type, taken, true);
    listen();
    const page = document.documentElement;
    if (page?.namespaceURI !== HTML) return; // none yet, or a drawing
    if (!document.body && document.readyState === "loading") return;
    watch.observe(document, { childList: true });
    watch.observe(page, { childList: true });
    if (isPut()) return;
    home().append(host);
    if (host.getAttribute("popover") !== "manual") host.setAttribute("popover", "manual");
    if (!host.matches(":popover-open")) host.showPopover();
  };
  // A page may throw out what it does not know, and stop all timers. It is put back when that
  // is seen, or the mouse moves; not more often than a page that does it again can bear.
  let asked = -Infinity;
  const again = () => {
    if (performance.now() - asked < 200 || isPut()) return;
    asked = performance.now();
    put();
  };
  addEventListener("pointermove", again, true);
  const watch = new MutationObserver(again);
  recorder.show = ({ on, pressed, text }) => {
    useful.disabled = !on;
    useful.setAttribute("aria-pressed", String(pressed));
    useful.textContent = pressed ? "✓ Useful" : "Useful";
    said.textContent = text;
  };
  const timer = setInterval(put, 1000);
  recorder.remove = () => {
    clearInterval(timer);
    watch.disconnect();
    removeEventListener("pointermove", again, true);
    for (const type of HAND) removeEventListener(type, taken, true);
    host.remove();
  };
  recorder.dom = () => {
    const own = new RegExp(`<${tag}\\b[^]*?</${tag}>`, "g");
    const kind = document.doctype ? new XMLSerializer().serializeToString(document.doctype) : "";
    return kind + document.documentElement.outerHTML.replace(own, "");
  };
  put();
  addEventListener("DOMContentLoaded", put, true);
  tell({ do: "ready" });
})
