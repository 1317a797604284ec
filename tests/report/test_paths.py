from __future__ import annotations

import random

from focusspider.report.paths import below, best_hubs, relevant_tree

#     0       5 (not on any path)
#    / \\      \\
#   1   2*     6
#   |   |\\
#   3*  4 7*
PARENTS = [-1, 0, 0, 1, 2, -1, 5, 2]
RELEVANT = [n in {2, 3, 7} for n in range(8)]


def shape(node):
    return [(child.page, shape(child), child.pages_out, child.relevant_out)
            for child in node.children]  # fmt: skip


def test_what_is_below_by_hand():
    assert below(PARENTS, RELEVANT) == [3, 1, 2, 1, 0, 0, 0, 1]


def test_the_tree_has_the_paths_and_nothing_else_best_first():
    tree = relevant_tree(PARENTS, below(PARENTS, RELEVANT), most=100, deepest=100)
    leaves = (3, [], 0, 0), (7, [], 0, 0)
    assert shape(tree) == [(0, [(2, [leaves[1]], 0, 0), (1, [leaves[0]], 0, 0)], 0, 0)]
    assert (tree.pages_out, tree.relevant_out) == (0, 0)


def test_what_is_left_out_is_counted():
    counts = below(PARENTS, RELEVANT)
    assert shape(relevant_tree(PARENTS, counts, most=2, deepest=9)) == [(0, [(2, [], 1, 1)], 1, 1)]
    assert shape(relevant_tree(PARENTS, counts, most=9, deepest=2)) == [
        (0, [(2, [], 1, 1), (1, [], 1, 1)], 0, 0)
    ]
    none = relevant_tree(PARENTS, counts, most=0, deepest=9)
    assert (shape(none), none.pages_out, none.relevant_out) == ([], 1, 3)


def test_no_relevant_page_is_no_tree():
    tree = relevant_tree(PARENTS, [0] * 8, most=9, deepest=9)
    assert (tree.children, tree.pages_out) == ([], 0)


def test_what_is_shown_and_left_out_is_all_of_it():
    chance = random.Random(3)
    for _ in range(50):
        size = chance.randint(1, 60)
        parents = [chance.randint(-1, n - 1) for n in range(size)]
        relevant = [chance.random() < 0.3 for _ in range(size)]
        counts = below(parents, relevant)
        tree = relevant_tree(parents, counts, most=chance.randint(0, 30), deepest=4)
        shown, left, waiting = 0, tree.relevant_out, list(tree.children)
        while waiting:
            node = waiting.pop()
            assert counts[node.page] > 0
            shown += relevant[node.page]
            left += node.relevant_out
            waiting += node.children
        assert shown + left == sum(relevant)


def test_a_long_chain_is_no_recursion():
    size = 200_000
    parents = list(range(-1, size - 1))
    counts = below(parents, [n == size - 1 for n in range(size)])
    assert counts[0] == 1
    assert relevant_tree(parents, counts, most=10, deepest=5).children[0].page == 0


def test_hubs_by_hand():
    counts = below(PARENTS, RELEVANT)
    # 0 brought 1 and 2, 2 brought 4 and 7, 1 brought 3: each has one relevant
    assert best_hubs(PARENTS, RELEVANT, counts, most=9) == [
        (1, 1, 1, 1), (0, 2, 1, 3), (2, 2, 1, 1),
    ]  # fmt: skip
    assert len(best_hubs(PARENTS, RELEVANT, counts, most=2)) == 2
