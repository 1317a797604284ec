"""Descriptions of the same thing on different sites, found by name and by what they say.

The system around xCrawl (Shchekotykhin, Jannach and Friedrich, figure 12, step 7) clusters the
pages that were found so that each group describes one instance, and takes the names out of them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from focusspider.registry import check_flag, check_share, check_whole
from focusspider.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

__all__ = ["AgreedFact", "Cluster", "Description", "InstanceClusters"]


class Description(NamedTuple):
    """What one page says of one thing.

    Attributes
    ----------
    url : str
    site : str
        Pages of one site rarely describe a thing twice.
    name : str
        Title and heading, with whatever the site adds to each of its own.
    facts : mapping of str to str
        Values by attribute.
    """

    url: str
    site: str
    name: str
    facts: Mapping[str, str]


class AgreedFact(NamedTuple):
    """A value that most pages of a cluster give an attribute, and how many of how many do."""

    attribute: str
    value: str
    pages: int
    of: int


class Cluster(NamedTuple):
    """Descriptions of one thing, by their numbers, what it is called, and what is said of it."""

    members: tuple[int, ...]
    name: str
    facts: tuple[AgreedFact, ...]


class InstanceClusters:
    """Groups descriptions of the same thing.

    Of a name, words are left out that more than a share ``boilerplate`` of its site's pages have,
    if the site has three or more. Two names are as like as the cosine of the rest is, a word
    weighing log(1 + n / n_w), where n_w of the n descriptions have it. Facts agree by the share of
    the attributes that both have, a value that fewer descriptions give weighing more in the same
    way; where fewer than ``min_shared`` attributes are in both, facts say nothing. A pair is as
    like as

        name_weight · names + (1 - name_weight) · facts,

    or as its names alone. Only pairs are compared that share a word of the name, or a value of an
    attribute, which at most ``max_block`` descriptions have.

    Pairs that are at least as like as the threshold are taken from the likest on. The clusters of
    the two become one where the average of all pairs between them is not below the threshold
    either: a chain of things each of which is like the next is no cluster. Two of one site are
    never in one cluster.

    Parameters
    ----------
    threshold : float
    name_weight : float
        In [0, 1].
    same_site : bool
        Whether descriptions of one site may be of the same thing.
    boilerplate : float
        In [0, 1].
    min_shared : int
    max_block : int
    """

    def __init__(
        self,
        *,
        threshold: float = 0.65,
        name_weight: float = 0.6,
        same_site: bool = False,
        boilerplate: float = 0.5,
        min_shared: int = 2,
        max_block: int = 100,
    ) -> None:
        check_share("threshold", threshold)
        check_share("name_weight", name_weight)
        check_flag("same_site", same_site)
        check_share("boilerplate", boilerplate)
        check_whole("min_shared", min_shared)
        check_whole("max_block", max_block, 2)
        self.threshold = threshold
        self.name_weight = name_weight
        self.same_site = same_site
        self.boilerplate = boilerplate
        self.min_shared = min_shared
        self.max_block = max_block

    def find(self, descriptions: Sequence[Description]) -> list[Cluster]:
        """Return the clusters of two descriptions or more, in the order of their first ones."""
        self._descriptions = descriptions
        self._words = self._names(descriptions)
        self._values = [
            {plain(name): _value(value) for name, value in one.facts.items()}
            for one in descriptions
        ]
        n = len(descriptions)
        frequency = Counter(word for words in self._words for word in words)
        self._weight = {word: math.log(1 + n / count) for word, count in frequency.items()}
        given = Counter(fact for values in self._values for fact in values.items())
        self._rarity = {fact: math.log(1 + n / count) for fact, count in given.items()}
        self._known: dict[tuple[int, int], float] = {}
        groups = self._merged(self._pairs())
        return [self._cluster(members) for members in groups]

    def _names(self, descriptions: Sequence[Description]) -> list[tuple[str, ...]]:
        """Return the words of each name without those of its site, each once."""
        words = [tuple(dict.fromkeys(plain(one.name).split())) for one in descriptions]
        of_site: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(descriptions):
            of_site[one.site].append(number)
        for numbers in of_site.values():
            if len(numbers) < 3:
                continue
            counts = Counter(word for number in numbers for word in words[number])
            most = self.boilerplate * len(numbers)
            for number in numbers:
                words[number] = tuple(word for word in words[number] if counts[word] <= most)
        return words

    def _pairs(self) -> list[tuple[float, int, int]]:
        """Return the pairs that are like enough to be compared by all, the likest first."""
        blocks: dict[object, list[int]] = defaultdict(list)
        for number, (words, values) in enumerate(zip(self._words, self._values, strict=True)):
            for key in (*words, *values.items()):
                blocks[key].append(number)
        pairs = {
            (first, second)
            for numbers in blocks.values()
            if len(numbers) <= self.max_block
            for place, first in enumerate(numbers)
            for second in numbers[place + 1 :]
            if self._may_be_one(first, second)
        }
        found = [(self._likeness(first, second), first, second) for first, second in pairs]
        like = [pair for pair in found if pair[0] >= self.threshold]
        return sorted(like, key=lambda pair: (-pair[0], pair[1], pair[2]))

    def _may_be_one(self, first: int, second: int) -> bool:
        sites = self._descriptions[first].site, self._descriptions[second].site
        return self.same_site or sites[0] != sites[1]

    def _likeness(self, first: int, second: int) -> float:
        """Return how like two of the descriptions are, in [0, 1]."""
        key = (first, second) if first < second else (second, first)
        found = self._known.get(key)
        if found is None:
            names = self._cosine(*(self._words[number] for number in key))
            facts = self._agreement(*(self._values[number] for number in key))
            found = names
            if facts is not None:
                found = self.name_weight * names + (1 - self.name_weight) * facts
            self._known[key] = found
        return found

    def _cosine(self, a: Iterable[str], b: Iterable[str]) -> float:
        weights = [{word: self._weight[word] for word in words} for words in (a, b)]
        product = sum(weight * weights[1].get(word, 0.0) for word, weight in weights[0].items())
        norms = [math.sqrt(sum(weight**2 for weight in one.values())) for one in weights]
        return min(product / (norms[0] * norms[1]), 1.0) if product else 0.0

    def _agreement(self, a: Mapping[str, str], b: Mapping[str, str]) -> float | None:
        shared = sorted(a.keys() & b.keys())
        if len(shared) < self.min_shared:
            return None
        weights = [max(self._rarity[name, a[name]], self._rarity[name, b[name]]) for name in shared]
        same = sum(
            weight for name, weight in zip(shared, weights, strict=True) if a[name] == b[name]
        )
        return same / sum(weights)

    def _merged(self, pairs: Sequence[tuple[float, int, int]]) -> list[tuple[int, ...]]:
        """Return the clusters, each by its members in order, the largest likeness first merged."""
        group_of = {number: number for pair in pairs for number in pair[1:]}
        members = {number: [number] for number in group_of}
        changed = True
        while changed:  # what was too far from one may be near to what that has become
            changed = False
            for _, first, second in pairs:
                a, b = group_of[first], group_of[second]
                if a != b and self._join(members[a], members[b]):
                    members[a] += members.pop(b)
                    group_of.update(dict.fromkeys(members[a], a))
                    changed = True
        return sorted(tuple(sorted(group)) for group in members.values() if len(group) > 1)

    def _join(self, a: Sequence[int], b: Sequence[int]) -> bool:
        pairs = [(first, second) for first in a for second in b]
        if not all(self._may_be_one(*pair) for pair in pairs):
            return False
        return sum(self._likeness(*pair) for pair in pairs) >= self.threshold * len(pairs)

    def _cluster(self, members: tuple[int, ...]) -> Cluster:
        middle = max(
            members,
            key=lambda one: (sum(self._likeness(one, at) for at in members if at != one), -one),
        )
        return Cluster(members, self._named(middle, members), tuple(self._agreed(members)))

    def _named(self, middle: int, members: Sequence[int]) -> str:
        """Return the words of a name that most of the others have too, as they are written.

        A word that many pages of a site have, such as a maker's name, is one of them.
        """
        names = [set(plain(self._descriptions[one].name).split()) for one in members]
        counts = Counter(word for words in names for word in words)
        kept = [
            word
            for word in self._descriptions[middle].name.split()
            if (parts := plain(word).split())
            and min(counts[part] for part in parts) > len(members) / 2
        ]
        return " ".join(dict.fromkeys(word.strip(",;:|()[]–—-") for word in kept))

    def _agreed(self, members: Sequence[int]) -> Iterator[AgreedFact]:
        said: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
        for one in members:
            for name, value in self._descriptions[one].facts.items():
                said[plain(name)].append((_value(value), name, value))
        for entries in said.values():
            counts = Counter(key for key, _, _ in entries)
            winner = min(counts, key=lambda key: (-counts[key], key))
            name, value = next(entry[1:] for entry in entries if entry[0] == winner)
            yield AgreedFact(name, value, counts[winner], len(entries))


def _value(text: str) -> str:
    """Return what the spellings of a value have in common.

    >>> _value("12 MP"), _value("12mp"), _value("1,024 x 768") == _value("1024 × 768")
    ('12mp', '12mp', True)
    """
    kept = [char for char in text.casefold().replace("×", "x") if char.isalnum() or char == "."]
    return "".join(kept).strip(".")
