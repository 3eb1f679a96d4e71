"""The small algorithms of the layout, each by itself."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlgraph.draw.layer_assignment import assign_layers, back_edges, increasing
from rlgraph.draw.routing import Net, assign_tracks, simplify
from rlgraph.draw.text_metrics import text_width

NUMBERS = st.lists(st.floats(-100, 100), min_size=1, max_size=8)


@given(NUMBERS)
def test_increasing_keeps_the_order_and_the_mean(values):
    result = increasing(values, [1.0] * len(values))
    assert all(b >= a - 1e-9 for a, b in pairwise(result))
    assert sum(result) == pytest.approx(sum(values), abs=1e-6)
    assert increasing(sorted(values), [1.0] * len(values)) == sorted(values)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda e: e[0] != e[1]), max_size=15))
def test_layers_lead_downwards_once_back_edges_are_out(edges):
    order = list(range(7))
    forward = [edge for edge in edges if edge not in back_edges(order, edges)]
    layer = assign_layers(order, forward, set(), set())
    assert all(layer[upper] < layer[lower] for upper, lower in forward)


PINS = st.lists(st.integers(0, 40).map(float), min_size=1, max_size=3).map(tuple)


@given(st.lists(st.builds(Net, PINS, PINS), max_size=7))
def test_nets_on_one_track_do_not_touch(nets):
    tracks = assign_tracks(dict(enumerate(nets)))
    assert set(tracks) == {i for i, net in enumerate(nets) if not net.is_straight}
    for a in tracks:
        for b in tracks:
            if a < b and tracks[a] == tracks[b]:
                (a_low, a_high), (b_low, b_high) = nets[a].span, nets[b].span
                assert a_high < b_low or b_high < a_low


def test_simplify_keeps_corners_only():
    assert simplify([(0, 0), (0, 5), (0, 5), (0, 9), (4, 9), (9, 9)]) == [(0, 0), (0, 9), (9, 9)]


def test_text_width_is_that_of_the_font():
    assert text_width("", 11) == 0
    assert text_width("W", 10) == pytest.approx(9.3) and text_width("W", 10, bold=True) == pytest.approx(9.67)
