"""Places in a document: taken apart, put together, found for faults; descriptions of arguments in docstrings."""

import pytest

from rlgraph.core.errors import Fault, SpecError
from rlgraph.core.specs.parameters import descriptions_of
from rlgraph.core.specs.spec_paths import is_index, join_parts, locate_faults, making, parts_of


@pytest.mark.parametrize(
    ("place", "parts"),
    [
        ("agent.network_spec[0].units", ["agent", "network_spec", "[0]", "units"]),
        ("layers[0][12]", ["layers", "[0]", "[12]"]),
        ("[3].units", ["[3]", "units"]),
        ("[draw]", ["[draw]"]),
        ("worker.x[/]", ["worker", "x[/]"]),
        ("worker.[draw]x", ["worker", "[draw]x"]),
        ("", []),
    ],
)
def test_a_place_is_the_sum_of_its_parts(place, parts):
    assert parts_of(place) == parts
    assert join_parts(*parts) == place


def test_numbers_of_items():
    assert [is_index(part) for part in ("[0]", "[10]", "0", "[x]", "[]", "[1]x")] == [True, True] + [
        False
    ] * 4


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("dense.units", Fault("wrong", "agent.network[1].units")),  # its scope is no part of the document
        ("units[0].x", Fault("wrong", "agent.network[1].units[0].x")),
        ("dense.discount", Fault("wrong", "agent.discount")),  # of the constructor around it
        ("agent.network[1].units", Fault("wrong", "agent.network[1].units")),
        ("agent.network[1][0]", Fault("wrong", "agent.network[1][0]")),
        ("agent.network[1]", Fault("wrong", "agent.network[1]")),
        ("agent.network[10]", Fault("agent.network[10]: wrong", "agent.network[1]")),
        ("space.low", Fault("wrong", "space.low")),  # the program gave it
        ("Dense", Fault("wrong", "agent.network[1]")),
        ("dense", Fault("dense: wrong", "agent.network[1]")),
        ("", Fault("wrong", "agent.network[1]")),
    ],
)
def test_places_of_faults(path, expected):
    error = SpecError("wrong", path=path)
    with making("agent", ["discount", "seed"], []), making("agent.network[1]", ["units"], ["space"]):
        locate_faults(error, "agent.network[1]", "Dense")
    assert error.faults == (expected,)
    with making("other", ["low", "units"], []):
        locate_faults(error, "other", "Other")
    assert error.faults == (expected,)


def test_a_place_whose_name_begins_like_the_constructors():
    error = SpecError("wrong", path="network")
    with making("net", ["units"], []):
        locate_faults(error, "net", "Dense")
    assert error.faults == (Fault("network: wrong", "net"),)


def test_texts_of_faults_are_not_searched_for_places():
    error = SpecError("units: wrong", Fault("discount: wrong", "dense.seed"))
    with making("net", ["units", "discount", "seed"], []):
        locate_faults(error, "net", "Dense")
    assert str(error) == "net: units: wrong\nnet.seed: discount: wrong"


class Base:
    """A thing.

    Args:
        size: how large it is.
        colour: what it looks like.
        shape: its form.
        price: in cents.
    """


class Special(Base):
    """A special thing.

    Args:
        size: see `Base`.
        colour: always red.
        shape: as in `Base`; round if it is red.
        price: as in `Base`, or so.
        weight: see `Scales`.
    """


def test_a_description_that_points_elsewhere_gives_way_to_the_one_above():
    assert descriptions_of(Special) == {
        "size": "how large it is.",
        "colour": "always red.",
        "shape": "its form; round if it is red.",
        "price": "as in `Base`, or so.",
        "weight": "see `Scales`.",
    }


class Between(Base):
    """A thing of another size.

    Args:
        size: how heavy it is.
    """


class Pointing(Between):
    """A thing as large as any.

    Args:
        size: as in `Base`.
    """


def test_a_description_is_that_of_the_class_that_is_named():
    assert descriptions_of(Pointing)["size"] == "how large it is."
