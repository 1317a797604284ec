"""What the methods that learn before a crawl are trained on.

WebGraph
    pages with their HTML, the links among them, and which are wanted; one file
"""

from focusspider.webgraph.parts import GraphArrays, GraphEdge, GraphPage
from focusspider.webgraph.store import WebGraph

__all__ = ["GraphArrays", "GraphEdge", "GraphPage", "WebGraph"]
