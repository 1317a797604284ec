"""A site whose links a person can reach, and a reader of its source can't; and what must not be.

Each part of the first page is there for one way to a link. ``REACHED`` is what a person gets to;
what else the server is asked for is a mistake of who looks.
"""

from __future__ import annotations

import json

from tests.site import Reply

__all__ = ["REACHED", "endless", "site"]

_PARTS = {
    # -- built by scripts, without anything being done
    "built": (
        "<div id=built></div>",
        "built.innerHTML = '<p>clock <a href=/built>built</a></p>';"
        "setTimeout(() => built.insertAdjacentHTML('beforeend', '<a href=/late>late</a>'), 120);",
    ),
    "fetched": (
        "<ul id=fetched></ul>",
        "fetch('/menu.json').then(r => r.json()).then(all => all.forEach(url => {"
        "const a = document.createElement('a'); a.href = url; a.textContent = url;"
        "fetched.append(a); }));",
    ),
    "shadow": (
        "<x-menu></x-menu>",
        "customElements.define('x-menu', class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({mode: 'closed'}).innerHTML = '<nav><a href=/shadow>s</a></nav>'; }});",
    ),
    # -- hovered
    "hover": (
        "<ul class=menu><li id=hover>Makers</li></ul>",
        "hover.addEventListener('mouseenter', () => { if (!hover.children.length) {"
        "hover.innerHTML = 'Makers <ul class=sub><li id=deep>"
        "<a href=/hover/1>Thwaites of London</a></li></ul>';"
        "deep.onmouseover = () => { if (!deep.querySelector('.last')) deep.insertAdjacentHTML("
        "'beforeend', '<a class=last href=/hover/2>and Reed</a>'); }; } });"
        "hover.addEventListener('mouseleave', () => hover.textContent = 'Makers');",
    ),
    # -- clicked
    "button": (
        "<p>Opening times: <button id=times>show</button></p>",
        "times.addEventListener('click', () => { location.href = '/times'; });",
    ),
    "more": (
        "<div id=list></div><button id=more>More</button>",
        "let shown = 0; more.onclick = () => { if (shown < 3) { shown += 1;"
        "list.insertAdjacentHTML('beforeend', `<a href=/more/${shown}>${shown}</a>`); } };",
    ),
    "anchors": (
        "<a href='#' onclick=\"location.assign('/anchor/1'); return false\">one</a>"
        "<a href=\"javascript:go('/anchor/2')\">two</a>"
        "<a id=bare>three</a>",
        "window.go = url => { location = url; };"
        "bare.addEventListener('mousedown', () => location.replace('/anchor/3'));",
    ),
    "delegated": (
        "<style>.tile { cursor: pointer }</style>"
        "<div class=tile data-to=/tile/1>a tile</div><div role=button data-to=/tile/2>another</div>",
        "document.addEventListener('click', event => {"
        "if (event.target.dataset.to) location.href = event.target.dataset.to; });",
    ),
    "toggle": (
        "<button id=toggle>Open</button><div id=drawer></div>",
        "toggle.onclick = () => { const open = toggle.textContent === 'Open';"
        "toggle.textContent = open ? 'Close' : 'Open';"
        "drawer.innerHTML = open ? '<a href=/drawer>in the drawer</a>' : ''; };",
    ),
    "select": (
        "<select id=jump><option value=''>Go to</option><option value=/jump/1>one</option>"
        "<option value=/jump/2>two</option></select>",
        "jump.onchange = () => { if (jump.value) location.href = jump.value; };",
    ),
    # -- a menu that takes the place of itself, so that one has to go back for the rest of it
    "app": (
        "<div id=app></div>",
        "const home = () => { app.innerHTML = '<button id=a>Part A</button><button id=b>Part B"
        "</button>'; for (const name of ['a', 'b']) document.getElementById(name).onclick = () => {"
        "history.pushState({}, '', `/app/${name}`);"
        "app.innerHTML = `<p>Part ${name} <a href=/app/${name}/1>its page</a></p>`; }; }; home();",
    ),
    # -- boxes that ask
    "boxes": (
        "<button id=tell>Tell</button><button id=ask>Ask</button><button id=name>Name</button>",
        "tell.onclick = () => { alert('Look'); location.href = '/told'; };"
        "ask.onclick = () => { if (confirm('Sure?')) location.href = '/asked'; };"
        "document.getElementById('name').onclick = () => {"
        "location.href = prompt('Where to?', '/named'); };",
    ),
    # -- windows
    "windows": (
        "<button id=w1>one</button><button id=w2>two</button><button id=w3>three</button>",
        "w1.onclick = () => window.open('/window/1');"
        "w2.onclick = () => { const w = window.open('', '_blank'); w.location.href = '/window/2'; };"
        "w3.onclick = () => { const a = document.createElement('a'); a.target = '_blank';"
        "a.href = '/window/3'; a.click(); };",
    ),
    # -- a file that is not to be saved; its URL is a link like others
    "file": (
        "<button id=save>Save</button>",
        "save.onclick = () => { const a = document.createElement('a'); a.download = 'f';"
        "a.href = '/file'; a.click(); };",
    ),
    # -- what must never happen
    "forms": (
        "<form action=/sent/get><input name=q value=clock><button id=get>Search</button></form>"
        "<form id=posted method=post action=/sent/post><button>Send</button></form>"
        "<form id=blank target=_blank action=/sent/blank><button>Open</button></form>"
        "<button id=send>Order</button><button id=again>Pay</button>",
        "send.onclick = () => { posted.submit(); document.forms[0].submit(); blank.submit(); };"
        "again.onclick = () => { posted.requestSubmit(); document.forms[0].requestSubmit();"
        "blank.requestSubmit(); };",
    ),
    "framed": (
        "<button id=framed>Framed</button>",
        "framed.onclick = () => { const i = document.createElement('iframe'); document.body.append(i);"
        "const inside = i.contentWindow; inside.HTMLFormElement.prototype.submit.call(posted);"
        "inside.fetch('/sent/framed', {method: 'POST'}); inside.navigator.sendBeacon('/sent/framed2');"
        "new inside.SharedWorker('/worker.js'); i.src = '/frame'; };",
    ),
    "posts": (
        "<button id=posts>Posts</button>",
        "posts.onclick = () => { fetch('/sent/fetch', {method: 'POST', body: 'x'});"
        "fetch('/sent/keep', {method: 'DELETE', keepalive: true});"
        "const x = new XMLHttpRequest(); x.open('PUT', '/sent/xhr'); x.send();"
        "navigator.sendBeacon('/sent/beacon', 'x'); };"
        "fetch('/sent/at-once', {method: 'POST'});",
    ),
    "channels": (
        "<button id=channels>Channels</button>",
        "channels.onclick = () => { new WebSocket(location.href.replace('http', 'ws') + 'sent/ws');"
        "new Worker('/worker.js'); new SharedWorker('/worker.js');"
        "navigator.serviceWorker && navigator.serviceWorker.register('/worker.js'); };",
    ),
    "pinged": (
        "<a id=ping href=/pinged ping=/sent/ping role=button>Ping</a>",
        "",
    ),
    # -- what a person does not see, and so does not press
    "unseen": (
        "<button style='display:none' onclick=\"location='/unseen/1'\">x</button>"
        "<div style='visibility:hidden'><button onclick=\"location='/unseen/2'\">x</button></div>"
        "<div style='opacity:0'><button onclick=\"location='/unseen/3'\">x</button></div>"
        "<div style='position:relative;width:90px;height:40px'>"
        "<button style='width:90px;height:40px' onclick=\"location='/unseen/4'\">x</button>"
        "<div style='position:absolute;inset:0;background:white'></div></div>"
        "<button disabled onclick=\"location='/unseen/5'\">x</button>",
        "",
    ),
    "blocked": ("<img src=/sent/image.png>", ""),
}

#: Every page that a person gets to from the first, beside it.
REACHED = frozenset(
    """
    /built /late /fetched/1 /fetched/2 /shadow /hover/1 /hover/2 /times /more/1 /more/2 /more/3
    /anchor/1 /anchor/2 /anchor/3 /tile/1 /tile/2 /drawer /jump/1 /jump/2
    /app/a /app/b /app/a/1 /app/b/1 /told /asked /named /window/1 /window/2 /window/3 /file /pinged
    /frame
    """.split()
)


def site(host: str, path: str) -> Reply | str | None:
    """Answer a request; what is to be ``REACHED`` is a page without links."""
    if path == "/":
        body = "".join(f"<section>{html}</section>" for html, _ in _PARTS.values())
        script = "".join(f"{{{script}}}\n" for _, script in _PARTS.values())
        return _page("Clocks", f"<h1>Clocks</h1>{body}<script>{script}</script>")
    if path == "/menu.json":
        return Reply(
            json.dumps(["/fetched/1", "/fetched/2"]), headers={"Content-Type": "text/json"}
        )
    if path == "/worker.js":
        script = "fetch('/sent/worker', {method: 'POST'});"
        return Reply(script, headers={"Content-Type": "text/javascript"})
    return _page("Clock", f"<p>The clock of {path[1:]}</p>") if path in REACHED else None


def endless(host: str, path: str) -> str | None:
    """A page where each press brings another button and another link, without end."""
    if path == "/":
        script = (
            "let n = 0; const next = () => { n += 1; document.body.insertAdjacentHTML('beforeend',"
            "`<p><a href=/${n}>clock ${n}</a><button id=b${n}>${n}</button></p>`);"
            "document.getElementById(`b${n}`).onclick = next; }; next();"
        )
        return _page("Endless clocks", f"<script>{script}</script>")
    return _page("Clock", "<p>a clock</p>")


def _page(title: str, body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>"
