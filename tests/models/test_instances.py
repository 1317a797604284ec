"""Groups of descriptions whose answer is known, and pages that only look as if they were one."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from focusspider.models.instances import AgreedFact, Description, InstanceClusters

#: Three cameras, each on some of three sites. What a site adds to its titles is its own; attributes
#: and values are spelt in each site's way.
CAMERAS = {
    "Canon A650 IS": {"Resolution": "12 MP", "Sensor": "CCD 1/1.7", "Weight": "300 g"},
    "Canon A640": {"Resolution": "10 MP", "Sensor": "CCD 1/1.8", "Weight": "245 g"},
    "Nikon D300": {"Resolution": "12.3 MP", "Sensor": "CMOS", "Weight": "825 g"},
}
SITES: dict[str, tuple[str, dict[str, str]]] = {
    "a.example": ("{} specifications - Camera House", {}),
    "b.example": ("Buy {} | PhotoShop24", {"Resolution": "resolution:", "MP": "mp"}),
    "c.example": ("Review: {}", {"Weight": "WEIGHT", " g": "g"}),
}


def description(site: str, camera: str, **changed: str) -> Description:
    title, spelling = SITES[site]
    facts = {}
    for name, value in {**CAMERAS[camera], **changed}.items():
        for old, new in spelling.items():
            name, value = name.replace(old, new), value.replace(old, new)
        facts[name] = value
    path = camera.lower().replace(" ", "-")
    return Description(f"http://{site}/{path}", site, title.format(camera), facts)


ALL = [description(site, camera) for site in SITES for camera in CAMERAS]


def groups(descriptions: list[Description], **params: Any) -> list[set[str]]:
    found = InstanceClusters(**params).find(descriptions)
    return [{descriptions[member].url for member in cluster.members} for cluster in found]


def urls(camera: str, *sites: str) -> set[str]:
    return {description(site, camera).url for site in sites or SITES}


def test_each_camera_is_a_cluster_and_has_its_own_name() -> None:
    assert groups(ALL) == [urls(camera) for camera in CAMERAS]
    assert [cluster.name for cluster in InstanceClusters().find(ALL)] == list(CAMERAS)


def test_the_order_of_pages_does_not_count() -> None:
    shuffled = ALL.copy()
    random.Random(0).shuffle(shuffled)
    assert sorted(map(sorted, groups(shuffled))) == sorted(map(sorted, groups(ALL)))


def test_what_most_pages_say_is_agreed() -> None:
    others = [one for one in ALL if one.name.find("A650") < 0]
    said = [
        description("a.example", "Canon A650 IS"),
        description("b.example", "Canon A650 IS", Weight="310 g"),
        description("c.example", "Canon A650 IS"),
    ]
    (cluster,) = (c for c in InstanceClusters().find(said + others) if "A650" in c.name)
    assert cluster.facts == (
        AgreedFact("Resolution", "12 MP", 3, 3),
        AgreedFact("Sensor", "CCD 1/1.7", 3, 3),
        AgreedFact("Weight", "300 g", 2, 3),
    )


def test_likeness_by_hand() -> None:
    # Of 4 descriptions 2 have "red", 1 "pump", 2 "x1", 1 "valve"; two attributes are shared, of
    # which one value is the same, given by 2 of 4, and the other is given by one each.
    made = [
        Description("http://a.example/", "a.example", "red pump x1", {"Flow": "5", "Size": "1"}),
        Description("http://b.example/", "b.example", "red x1 valve", {"flow": "5", "size": "2"}),
        Description("http://c.example/", "c.example", "tea", {}),
        Description("http://d.example/", "d.example", "cake", {}),
    ]
    two, one = math.log(1 + 4 / 2), math.log(1 + 4 / 1)
    names = 2 * two**2 / (2 * two**2 + one**2)
    facts = two / (two + one)
    expected = 0.6 * names + 0.4 * facts
    assert len(groups(made, threshold=math.floor(expected * 1e9) / 1e9)) == 1
    assert groups(made, threshold=math.ceil(expected * 1e9) / 1e9) == []
    # Names alone where too few attributes are in both.
    assert len(groups(made, threshold=math.floor(names * 1e9) / 1e9, min_shared=3)) == 1
    assert groups(made, threshold=math.ceil(names * 1e9) / 1e9, min_shared=3) == []


def test_a_sister_model_is_another_thing() -> None:
    pair = [description("a.example", "Canon A650 IS"), description("b.example", "Canon A640")]
    assert groups([*pair, description("c.example", "Nikon D300")]) == []


def test_the_same_name_for_something_else_is_not_enough() -> None:
    facts = [
        {"Author": "Hill", "Pages": "320", "Year": "1950"},
        {"Length": "95 min", "Year": "1986", "Author": "Moss"},
    ]
    pair = [
        Description(f"http://{site}/dune", site, "Dune", of)
        for site, of in zip(("books.example", "films.example"), facts, strict=True)
    ]
    assert groups(pair) == []
    assert len(groups([one._replace(facts={}) for one in pair])) == 1


def test_pages_of_one_site_are_different_things_unless_it_is_said_otherwise() -> None:
    pair = [
        Description(f"http://a.example/{n}", "a.example", "Canon A650 IS", {}) for n in range(2)
    ]
    assert groups(pair) == []
    assert len(groups(pair, same_site=True)) == 1


def test_a_chain_of_likenesses_is_no_cluster() -> None:
    names = ("alpha beta gamma", "beta gamma delta", "gamma delta epsilon", "delta epsilon zeta")
    chain = [
        Description(f"http://{n}.example/", f"{n}.example", name, {})
        for n, name in enumerate(names)
    ]
    found = groups(chain, threshold=0.5)
    # Each is like the next, the first like the last in nothing: by single linkage all were one.
    assert found
    assert max(map(len, found)) == 2


def test_words_of_a_site_do_not_make_its_pages_like_those_of_another() -> None:
    shop = [
        Description(f"http://{site}/{n}", site, f"Great shop online offers {word}", {})
        for site, words in (("a.example", "pump valve hose"), ("b.example", "tea cake milk"))
        for n, word in enumerate(words.split())
    ]
    assert groups(shop) == []


def test_a_word_that_too_many_have_is_no_reason_to_compare() -> None:
    many = [
        Description(f"http://{n}.example/", f"{n}.example", f"thing {n // 2}x", {})
        for n in range(20)
    ]
    assert len(groups(many, max_block=2)) == 10
    compared = InstanceClusters(max_block=2)
    compared.find(many)
    assert len(compared._known) == 10


@pytest.mark.parametrize("descriptions", [[], ALL[:1], [ALL[0]._replace(name="", facts={})] * 2])
def test_too_little_is_no_cluster(descriptions: list[Description]) -> None:
    assert groups(descriptions) == []


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, got 1.5"),
        ({"name_weight": -1}, "name_weight must be a number from 0 to 1, got -1"),
        ({"min_shared": 0}, "min_shared must be a whole number of at least 1, got 0"),
        ({"same_site": "yes"}, "same_site must be true or false, got 'yes'"),
    ],
)
def test_wrong_values_are_refused(params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        InstanceClusters(**params)
