// The page's side of rendering; runs in each frame before any script of the page.
//
// It keeps the page from what is no reading of it: forms, sockets, workers, downloads, windows.
// In the page's own window it also answers, under a name of its own: what can be hovered, clicked or
// chosen now, and which links there are that were not there before. See probing.py. A page that bends
// the functions used here deceives nobody but itself: it is found to have fewer links, or others.
((name) => {
  "use strict";
  const refused = {};
  const opened = [];
  const refuse = (reason) => { refused[reason] = (refused[reason] || 0) + 1; };
  const inner = window !== window.top;
  const note = (url) => {
    try {
      const top = inner ? window.top[name] : null;
      (top ? top.opened : opened).push(new URL(url, document.baseURI).href);
    } catch { /* a URL that is none, or a frame of another site */ }
  };

  // -- what is kept from happening ------------------------------------------------------

  window.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    refuse("form");
  }, true);
  HTMLFormElement.prototype.submit = function submit() { refuse("form"); };
  class Dead extends EventTarget {
    constructor() {
      super();
      refuse("channel");
      this.readyState = 3;
      setTimeout(() => {
        const event = new Event("error");
        this.dispatchEvent(event);
        if (typeof this.onerror === "function") this.onerror(event);
      });
    }
    send() {}
    postMessage() {}
    terminate() {}
    close() {}
    start() {}
    get port() { return this; }
  }
  for (const channel of ["WebSocket", "WebTransport", "Worker", "SharedWorker",
    "RTCPeerConnection", "webkitRTCPeerConnection"]) {
    if (channel in window) {
      Object.defineProperty(window, channel, { value: class extends Dead {}, writable: false });
    }
  }
  window.open = (url) => {
    refuse("window");
    if (url) note(url);
    const location = { assign: note, replace: note, reload() {}, toString: () => "about:blank" };
    Object.defineProperty(location, "href", { get: () => "about:blank", set: note });
    const opener = { closed: false, opener: null, close() {}, focus() {}, blur() {},
      postMessage() {}, document: { write() {}, open() {}, close() {} } };
    Object.defineProperty(opener, "location", { get: () => location, set: note });
    return opener;
  };
  window.print = () => {};
  if (window.navigation) {
    window.navigation.addEventListener("navigate", (event) => {
      if (typeof event.downloadRequest === "string" && event.cancelable) {
        event.preventDefault();
        note(event.destination.url);
        refuse("download");
      }
    });
  }

  // -- what has to be known of the page before it begins ---------------------------------

  const listens = new WeakMap();
  const addEventListener = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function add(type, ...rest) {
    if (this instanceof Node || this === window) {
      const types = listens.get(this) || new Set();
      listens.set(this, types.add(type));
    }
    return addEventListener.call(this, type, ...rest);
  };
  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attach(options) {
    return attachShadow.call(this, { ...options, mode: "open" });
  };
  if (inner) return;

  // -- what the page is asked --------------------------------------------------------------

  const PRESSES = ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart"];
  const HOVERS = ["mouseover", "mouseenter", "pointerover", "pointerenter", "mousemove"];
  const CHANGES = ["change", "input"];
  const ROLES = new Set(["button", "link", "menuitem", "menuitemcheckbox", "menuitemradio",
    "option", "switch", "tab", "treeitem"]);
  const MOST_ACTIONS = 500;
  const MOST_LINKS = 5000;
  const MOST_SCREENS = 30;
  const LABEL = 200;
  const SCROLL = "scroll";
  const known = new Set();
  let places = new Map();
  let acting = null;
  let chosen = "";
  let changed = performance.now();
  new MutationObserver(() => { changed = performance.now(); }).observe(document, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });

  const hears = (node, types) => {
    const heard = listens.get(node);
    return types.some((type) => (heard && heard.has(type)) ||
      (node.getAttribute && node.hasAttribute(`on${type}`)) || typeof node[`on${type}`] === "function");
  };
  const parentOf = (node) => node.parentElement ||
    (node.getRootNode() instanceof ShadowRoot ? node.getRootNode().host : null);
  const within = function* within(root) { // all elements, in their order, in shadows too
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* within(node.shadowRoot);
    }
  };
  const folded = (text) => (text || "").replace(/\s+/g, " ").trim().slice(0, LABEL);
  const textOf = (node) => folded(node.innerText || node.textContent);
  const labelOf = (node) => textOf(node) || folded(node.getAttribute("aria-label") ||
    node.getAttribute("title") || node.getAttribute("alt") || node.value);
  const targetOf = (node) => { // of a link that leads to another page, or of a frame
    if (!/^(a|area|frame|iframe)$/.test(node.localName)) return null;
    const href = node.getAttribute("href") || node.getAttribute("xlink:href") ||
      (/frame$/.test(node.localName) && node.getAttribute("src"));
    if (!href) return null;
    try {
      const url = new URL(href, document.baseURI);
      url.hash = "";
      return /^https?:$/.test(url.protocol) ? url.href : null;
    } catch { return null; }
  };
  const here = () => location.href.split("#")[0];
  const isSeen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true,
    checkOpacity: true, checkVisibilityCSS: true });
  const boxOf = (node) => [...node.getClientRects()].find((box) => box.width > 1 && box.height > 1);
  const isLarge = (node) => node === document.body || node === document.documentElement || (() => {
    const box = node.getBoundingClientRect();
    return box.width * box.height > 0.6 * innerWidth * innerHeight && node.querySelector("*");
  })();
  const pathOf = (node) => {
    const steps = [];
    for (let at = node; at && at !== document.body; at = parentOf(at)) {
      const same = at.parentNode ? [...at.parentNode.children] : [at];
      steps.push(`${at.localName}${same.indexOf(at)}`);
    }
    return steps.reverse().join("/");
  };

  const isPlace = (fragment) => { // of the page, to which a link scrolls
    try {
      const name = decodeURIComponent(fragment);
      return name !== "" && Boolean(document.getElementById(name) ||
        document.getElementsByName(name).length);
    } catch { return false; }
  };
  const isPressed = (node, style) => { // a person would press it, and it is no link as such
    if (node.matches("input, textarea, select, option, label, form")) {
      return node.matches("input[type=button], input[type=image]");
    }
    const owns = hears(node, PRESSES);
    const role = (node.getAttribute("role") || "").toLowerCase();
    const says = node.hasAttribute("aria-haspopup") || node.hasAttribute("aria-expanded");
    if (node.localName === "button" && node.form && node.type !== "button") return owns;
    if (/^(button|summary)$/.test(node.localName)) return true;
    if (node.localName === "a" && node.hasAttribute("href")) {
      const href = node.getAttribute("href").trim();
      if (owns || says || role === "button" || /^javascript:/i.test(href)) return true;
      if (href.startsWith("#")) return !isPlace(href.slice(1)); // a place needs no script
      return [...node.attributes].some((a) => /^data-(\w+-)?toggle$/.test(a.name));
    }
    if (owns || says || ROLES.has(role)) return true;
    const parent = parentOf(node);
    return style.cursor === "pointer" && Boolean(parent) &&
      getComputedStyle(parent).cursor !== "pointer";
  };
  const isHovered = (node) => {
    if (hears(node, HOVERS) || node.hasAttribute("aria-haspopup")) return true;
    if (!node.matches("a, li, button, [role=menuitem]")) return false;
    let at = parentOf(node);
    for (let steps = 0; at && steps < 4; steps += 1, at = parentOf(at)) {
      if (hears(at, ["mouseover", "pointerover"])) return true;
    }
    return Boolean(node.closest("nav, header, [role=navigation], [role=menubar]")) &&
      [document, document.body, document.documentElement, window].some(
        (root) => hears(root, ["mouseover", "pointerover"]));
  };
  const isChosen = (node) => node.localName === "select" && !node.multiple &&
    [node, node.form, document, document.body, window].some((at) => at && hears(at, CHANGES));

  const actions = () => { // what a person could do now, in the order of the page
    places = new Map();
    const found = [];
    const add = (node, kind, label, option) => {
      if (found.length >= MOST_ACTIONS) return;
      const key = `${kind} ${pathOf(node)}${option === undefined ? "" : `:${option}`} ${label}`;
      if (!places.has(key)) {
        places.set(key, [node, option]);
        found.push({ key, kind, label });
      }
    };
    if (!document.body) return found;
    for (const node of within(document.body)) {
      if (found.length >= MOST_ACTIONS) break;
      if (!(node instanceof HTMLElement || node instanceof SVGElement)) continue;
      if (node.matches(":disabled, [aria-disabled=true], [inert] *")) continue;
      const hovered = isHovered(node);
      const chosen = isChosen(node);
      const pressed = !chosen && isPressed(node, getComputedStyle(node));
      if (!(hovered || pressed || chosen) || !isSeen(node) || !boxOf(node) || isLarge(node)) continue;
      const label = labelOf(node);
      if (hovered) add(node, "hover", label);
      if (pressed) add(node, "click", label);
      if (chosen) {
        [...node.options].slice(0, 50).forEach((option, place) => {
          if (!option.disabled) add(node, "choose", textOf(option), place);
        });
      }
    }
    const page = document.scrollingElement;
    if (page && page.scrollHeight - page.scrollTop > innerHeight + 2) {
      places.set(SCROLL, [page]); // last, since it shows what was not there
      found.push({ key: SCROLL, kind: "scroll", label: "" });
    }
    return found;
  };
  const scrolled = async () => { // to the end of the page, as it was when that began
    const page = document.scrollingElement;
    const steps = Math.min(MOST_SCREENS, Math.ceil(page.scrollHeight / innerHeight));
    for (let step = 0; step < steps; step += 1) {
      scrollBy({ top: 0.9 * innerHeight, behavior: "instant" });
      await new Promise((next) => { requestAnimationFrame(() => requestAnimationFrame(next)); });
    }
  };

  // Elements that lead to links, each with what is above it and the text around it: what a reader
  // of the page takes a link's place and context from.
  const sketch = (links) => {
    const inert = document.implementation.createHTMLDocument("");
    const kept = new Set();
    for (const node of links.keys()) {
      for (let at = node; at && at !== document.body; at = parentOf(at)) kept.add(at);
    }
    const copy = (node, made) => {
      const below = [...node.childNodes, ...(node.shadowRoot ? node.shadowRoot.childNodes : [])];
      const holds = below.some((child) => links.has(child));
      for (const child of below) {
        if (links.has(child)) {
          for (const url of links.get(child)) {
            const link = inert.createElement("a");
            link.setAttribute("href", url);
            link.textContent = child.localName === "select" ? chosen : labelOf(child);
            for (const key of ["class", "rel", "title"]) {
              const value = child.getAttribute(key);
              if (value) link.setAttribute(key, value.slice(0, LABEL));
            }
            made.append(" ", link);
          }
        }
        if (kept.has(child) && !(links.has(child) && child.localName === "a")) {
          const tag = /^(h[1-6]|a|iframe|form|button|select)$/.test(child.localName) ||
            !/^[a-z][a-z0-9-]*$/.test(child.localName) ? "div" : child.localName;
          const element = inert.createElement(tag);
          const style = child.getAttribute("class");
          if (style) element.className = style.slice(0, LABEL);
          copy(child, element);
          if (element.firstChild) made.append(element);
        } else if (holds && !links.has(child) && /^(1|3)$/.test(child.nodeType) &&
            !/^(script|style|template)$/.test(child.localName || "")) {
          made.append(` ${textOf(child)} `);
        }
      }
    };
    const root = inert.createElement("div");
    if (document.body) copy(document.body, root);
    return root.innerHTML;
  };

  const hash = (text) => { // FNV-1a, twice
    let [low, high] = [0x811c9dc5, 0x01000193];
    for (let place = 0; place < text.length; place += 1) {
      const code = text.charCodeAt(place);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x85ebca6b);
    }
    return `${low >>> 0}.${high >>> 0}`;
  };

  const pointOf = (node) => { // in view, and not covered
    node.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = boxOf(node);
    if (!box) return null;
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    let at = document.elementFromPoint(x, y);
    for (let inside = at; inside && inside.shadowRoot;) {
      inside = inside.shadowRoot.elementFromPoint(x, y);
      if (!inside || inside === at) break;
      at = inside;
    }
    for (let up = at; up; up = parentOf(up)) if (up === node) return { x, y };
    return null;
  };

  const from = here();
  let was = from; // at the last look
  const remember = (urls) => { // the links that need not be told
    for (const url of urls) known.add(url);
    known.add(here());
    for (const node of document.querySelectorAll("a, area, frame, iframe")) {
      const target = targetOf(node);
      if (target) known.add(target);
    }
  };
  const answers = {
    opened,
    // The document as it is, and its links as those that are known.
    read(most) {
      remember([]);
      const root = document.documentElement;
      const html = root ? root.outerHTML : "";
      return html.length > most ? { size: html.length } : {
        html, base: here() === from || document.querySelector("base[href]") ? null : here(),
      };
    },
    // What there is now: what can be done, and what has come since the last time.
    look(urls) {
      const fresh = new Map();
      const visible = [];
      const bring = (node, url) => {
        if (known.has(url) || known.size > MOST_LINKS) return;
        known.add(url);
        fresh.set(node, [...(fresh.get(node) || []), url]);
      };
      if (document.body) {
        for (const node of within(document.body)) {
          const target = targetOf(node);
          if (!target) continue;
          bring(node, target);
          if (visible.length < 2000 && isSeen(node)) visible.push(target);
        }
      }
      const origin = acting && acting.isConnected && acting !== document.body ? acting : document.body;
      const led = [...urls, ...opened.splice(0), ...(here() === was ? [] : [here()])];
      const astray = [];
      for (const raw of led) {
        const url = raw.split("#")[0];
        if (!/^https?:/.test(url) || known.has(url)) continue;
        if (origin && origin !== document.body) bring(origin, url);
        else { known.add(url); astray.push(url); }
      }
      was = here();
      const todo = actions();
      const counted = { ...refused };
      for (const reason of Object.keys(refused)) delete refused[reason];
      return {
        digest: hash(JSON.stringify([here(), visible, todo.map((action) => action.key)])),
        urls: [...[...fresh.values()].flat(), ...astray],
        html: fresh.size ? sketch(fresh) : "",
        astray,
        actions: todo,
        refused: counted,
      };
    },
    // The first of these that a person could do now, in view, and where to put the mouse for it.
    aim(keys) {
      for (const key of keys) {
        const [node] = places.get(key) || [];
        if (!node || !node.isConnected || !isSeen(node)) continue;
        if (/^(choose|scroll)/.test(key)) return { key };
        const point = pointOf(node);
        if (point) {
          acting = node;
          return { key, ...point };
        }
      }
      return null;
    },
    know: remember,
    act(key) {
      const [node, option] = places.get(key) || [];
      acting = null;
      if (key === SCROLL) return scrolled();
      acting = node;
      chosen = textOf(node.options[option]);
      node.selectedIndex = option;
      for (const type of CHANGES) node.dispatchEvent(new Event(type, { bubbles: true }));
      return null;
    },
    // Wait until nothing has changed for so many milliseconds.
    quiet(calm, most) {
      const until = performance.now() + most;
      return new Promise((resolve) => {
        const wait = () => {
          const now = performance.now();
          if (now - changed >= calm || now >= until) resolve(now < until);
          else setTimeout(wait, Math.min(calm, until - now));
        };
        changed = performance.now();
        wait();
      });
    },
  };
  Object.defineProperty(window, name, { value: Object.freeze(answers) });
})
