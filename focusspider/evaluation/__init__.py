"""How good a crawl was: metrics, the omniscient bound, and whether a difference is real.

metrics
    harvest rate, precision, recall, F1, area under the recall curve, headroom, APR
similarity
    the metrics that compare text: precision@N and maximum average similarity
significance
    one-tailed paired t-tests, and intervals of means
omniscient
    the order in which a crawler would fetch that knows the whole graph
graph
    the graph of a stored web, for the bound and the truth
"""
