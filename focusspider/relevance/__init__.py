"""Relevance: is this page on topic."""
