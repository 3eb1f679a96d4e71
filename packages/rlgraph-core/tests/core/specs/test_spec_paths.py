"""Places in a document: taken apart, put together; what docstrings say of the arguments that stand there."""

import pytest

from rlgraph.core.specs.parameters import descriptions_of
from rlgraph.core.specs.spec_paths import is_index, join_parts, parts_of


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
