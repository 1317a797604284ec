"""A site whose links a person can reach, and a reader of its source can't; and what must not be.

Each section of the first page is there for one way to a link. ``REACHED`` is what a person gets
to; what else the server is asked for is a mistake of who looks.
"""

from __future__ import annotations

import json

from tests.site import Reply

__all__ = ["ENDLESS", "REACHED", "site"]

PAGE = """<!DOCTYPE html><html><head><title>Clocks</title><style>.tile { cursor: pointer }</style>
<script>const $ = id => document.getElementById(id);</script></head><body><h1>Clocks</h1>

<!-- built by scripts, without anything being done -->
<section><div id="built"></div><ul id="fetched"></ul><x-menu></x-menu><script>
  $("built").innerHTML = "<p>clock <a href=/built>built</a></p>";
  setTimeout(() => $("built").insertAdjacentHTML("beforeend", "<a href=/late>late</a>"), 120);
  fetch("/menu.json").then(reply => reply.json()).then(all => all.forEach(url => {
    $("fetched").insertAdjacentHTML("beforeend", `<li><a href=${url}>${url}</a></li>`);
  }));
  customElements.define("x-menu", class extends HTMLElement {
    connectedCallback() {
      this.attachShadow({mode: "closed"}).innerHTML = "<nav><a href=/shadow>shadow</a></nav>";
    }
  });
</script></section>

<!-- a menu that opens under the mouse, and another in it -->
<section><ul class="menu"><li id="hover">Makers</li></ul><script>
  $("hover").addEventListener("mouseenter", () => {
    $("hover").innerHTML =
      "Makers <ul class=sub><li id=deep><a href=/hover/1>Thwaites of London</a></li></ul>";
    $("deep").onmouseover = () => {
      if ($("last")) return;
      $("deep").insertAdjacentHTML("beforeend", "<a id=last href=/hover/2>Reed</a>");
    };
  });
  $("hover").addEventListener("mouseleave", () => { $("hover").textContent = "Makers"; });
</script></section>

<!-- what is pressed -->
<section>
<p>Opening times: <button id="times">show</button></p>
<div id="list"></div><button id="more">More</button>
<a href="#" onclick="location.assign('/anchor/1'); return false">one</a>
<a href="javascript:go('/anchor/2')">two</a> <a id="bare">three</a>
<div class="tile" data-to="/tile/1">a tile</div><div role="button" data-to="/tile/2">another</div>
<button id="toggle">Open</button><div id="drawer"></div>
<a id="ping" href="/pinged" ping="/sent/ping" role="button">Ping</a><script>
  $("times").addEventListener("click", () => { location.href = "/times"; });
  let shown = 0;
  $("more").onclick = () => {
    if (shown === 3) return;
    shown += 1;
    $("list").insertAdjacentHTML("beforeend", `<a href=/more/${shown}>${shown}</a>`);
  };
  const go = url => { location = url; };
  $("bare").addEventListener("mousedown", () => location.replace("/anchor/3"));
  document.addEventListener("click", event => {
    if (event.target.dataset.to) location.href = event.target.dataset.to;
  });
  $("toggle").onclick = () => {
    const open = $("toggle").textContent === "Open";
    $("toggle").textContent = open ? "Close" : "Open";
    $("drawer").innerHTML = open ? "<a href=/drawer>in the drawer</a>" : "";
  };
</script></section>

<!-- a banner that covers what is to be pressed, until it is closed -->
<section style="position:relative"><button id="under">Under</button>
<div id="banner" style="position:absolute;inset:0;background:white">
<button id="agree">OK</button></div><script>
  $("under").onclick = () => { location.href = "/under"; };
  $("agree").onclick = () => $("banner").remove();
</script></section>

<!-- what is chosen -->
<section><select id="jump"><option value="">Go to</option><option value="/jump/1">one</option>
<option value="/jump/2">two</option></select><script>
  $("jump").onchange = () => { if ($("jump").value) location.href = $("jump").value; };
</script></section>

<!-- a menu that takes the place of itself, so that one has to go back for the rest of it -->
<section><div id="app"></div><script>
  $("app").innerHTML = "<button id=a>Part A</button><button id=b>Part B</button>";
  for (const name of ["a", "b"]) {
    $(name).onclick = () => {
      history.pushState({}, "", `/app/${name}`);
      $("app").innerHTML = `<p>Part ${name} <a href=/app/${name}/1>its page</a></p>`;
    };
  }
</script></section>

<!-- boxes that ask -->
<section>
<button id="tell">Tell</button><button id="ask">Ask</button><button id="name">Name</button><script>
  $("tell").onclick = () => { alert("Look"); location.href = "/told"; };
  $("ask").onclick = () => { if (confirm("Sure?")) location.href = "/asked"; };
  $("name").onclick = () => { location.href = prompt("Where to?", "/named"); };
</script></section>

<!-- what comes when one has scrolled to it -->
<section><div id="long" style="height:1500px"></div><p id="end">more below</p><script>
  let screens = 0;
  new IntersectionObserver(seen => {
    if (!seen[0].isIntersecting || screens === 2) return;
    screens += 1;
    $("end").insertAdjacentHTML("beforebegin", `<p><a href=/below/${screens}>${screens}</a></p>`);
    $("long").style.height = `${1500 + 1500 * screens}px`;
  }).observe($("end"));
</script></section>

<!-- windows, a file, a frame -->
<section><button id="w1">one</button><button id="w2">two</button><button id="w3">three</button>
<button id="save">Save</button><button id="frame">Frame</button><script>
  $("w1").onclick = () => window.open("/window/1");
  $("w2").onclick = () => { const w = window.open("", "_blank"); w.location.href = "/window/2"; };
  const press = (href, more) => Object.assign(document.createElement("a"), {href, ...more}).click();
  $("w3").onclick = () => press("/window/3", {target: "_blank"});
  $("save").onclick = () => press("/file", {download: "file"});
  $("frame").onclick = () => {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    const inside = frame.contentWindow;
    inside.HTMLFormElement.prototype.submit.call($("posted"));
    inside.fetch("/sent/framed", {method: "POST"});
    inside.navigator.sendBeacon("/sent/framed-beacon");
    new inside.SharedWorker("/worker.js");
    frame.src = "/frame";
  };
</script></section>

<!-- what must never happen -->
<section>
<form id="searched" action="/sent/get"><input name="q" value="clock"><button>Search</button></form>
<form id="posted" method="post" action="/sent/post"><button>Send</button></form>
<form id="blank" target="_blank" action="/sent/blank"><button>Open</button></form>
<button id="send">Order</button><button id="again">Pay</button><button id="posts">Posts</button>
<button id="channels">Channels</button><img src="/sent/image.png"><script>
  const forms = ["searched", "posted", "blank"].map($);
  $("send").onclick = () => forms.forEach(form => form.submit());
  $("again").onclick = () => forms.forEach(form => form.requestSubmit());
  $("posts").onclick = () => {
    fetch("/sent/fetch", {method: "POST", body: "x"});
    fetch("/sent/keep", {method: "DELETE", keepalive: true});
    const asked = new XMLHttpRequest();
    asked.open("PUT", "/sent/xhr");
    asked.send();
    navigator.sendBeacon("/sent/beacon", "x");
  };
  fetch("/sent/at-once", {method: "POST"});
  $("channels").onclick = () => {
    new WebSocket(`ws://${location.host}/sent/socket`);
    new Worker("/worker.js");
    new SharedWorker("/worker.js");
    if (navigator.serviceWorker) navigator.serviceWorker.register("/worker.js");
  };
</script></section>

<!-- what a person does not see, and so does not press -->
<section><button style="display:none" onclick="location='/unseen/1'">x</button>
<div style="visibility:hidden"><button onclick="location='/unseen/2'">x</button></div>
<div style="opacity:0"><button onclick="location='/unseen/3'">x</button></div>
<div style="position:relative;width:90px;height:40px">
<button style="width:90px;height:40px" onclick="location='/unseen/4'">x</button>
<div style="position:absolute;inset:0;background:white"></div></div>
<button disabled onclick="location='/unseen/5'">x</button></section>
</body></html>
"""

#: Every page that a person gets to from the first, beside it.
REACHED = frozenset({
    "/built", "/late", "/fetched/1", "/fetched/2", "/shadow", "/hover/1", "/hover/2", "/times",
    "/more/1", "/more/2", "/more/3", "/anchor/1", "/anchor/2", "/anchor/3", "/tile/1", "/tile/2",
    "/drawer", "/pinged", "/jump/1", "/jump/2", "/app/a", "/app/b", "/app/a/1", "/app/b/1", "/told",
    "/asked", "/named", "/window/1", "/window/2", "/window/3", "/file", "/frame", "/below/1",
    "/below/2", "/under",
})  # fmt: skip

#: A page where each press brings another button and another link.
ENDLESS = """<title>Endless clocks</title><script>
  let n = 0;
  const next = () => {
    n += 1;
    document.body.insertAdjacentHTML("beforeend",
      `<p><a href=/${n}>clock ${n}</a><button id=b${n}>${n}</button></p>`);
    document.getElementById(`b${n}`).onclick = next;
  };
  addEventListener("load", next);
</script>"""


def site(host: str, path: str) -> Reply | str | None:
    """Answer a request; what is to be ``REACHED`` is a page without links."""
    if path == "/":
        return PAGE
    if path == "/menu.json":
        return Reply(json.dumps(["/fetched/1", "/fetched/2"]))
    if path == "/worker.js":
        script = "fetch('/sent/worker', {method: 'POST'});"
        return Reply(script, headers={"Content-Type": "text/javascript"})
    return f"<title>Clock</title><p>The clock of {path[1:]}</p>" if path in REACHED else None
