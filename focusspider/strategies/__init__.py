"""Strategies: which link of a page is worth the next request."""
