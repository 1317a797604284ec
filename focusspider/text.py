"""Tokens, stems and term vectors: the bag of words that every method here starts from.

Analyzer
    ``Analyzer(language="english")``; ``.terms(text, language=None) -> Terms``
Terms
    stemmed, stop-worded term counts with a cached Euclidean ``norm``
cosine(a, b)
    cosine similarity of two term-frequency vectors, in [0, 1]
"""
