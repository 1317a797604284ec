"""Pages as a person sees them: fetched plainly, then rendered and probed in a Chromium.

policy
    which pages are rendered, and what a page may cost
handler
    Scrapy's download handler: fetches a page by another handler, and renders it
browser
    the Chromium of a crawl, driven through scrapy-playwright
guard
    what a page in it may ask for
probing
    the search through the states of a page for links
probe.js
    the page's side of both
"""

from focusspider.render.policy import MODES, RenderPolicy

__all__ = ["MODES", "RenderPolicy"]
