"""Pages of results that need no server and no network: one file each, opened in any browser.

document
    HTML of hostile text, and the page around it
charts
    curves that a reader can zoom, and switch on and off
table
    tables that a reader can sort
runlog
    a run folder, read back, whatever has become of it
paths
    the tree of the pages that led to relevant ones, and the best hubs
crawlpage
    the page about one crawl

Everything that a crawl met is hostile: it is escaped, an address becomes a link only where it
is http or https, and the page carries a policy by which no script runs but its own and nothing
is fetched.
"""
