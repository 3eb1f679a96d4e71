"""Whatever the graph: parts lie inside, nothing overlaps, and no wire runs through a box or a text."""

from itertools import combinations, pairwise

import pytest

from rlgraph.components import NeuralNetwork
from rlgraph.draw import draw
from rlgraph.draw.geometry import SMALL
from rlgraph.draw.text_metrics import text_width


def drawings(built):
    yield draw(built)
    for depth in (1, 2):
        yield draw(built, depth=depth)
    for method in built.graph.methods:
        yield draw(built, method=method)
    for scope in built.graph.components:
        yield draw(built, scope=scope)


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def extent(box):
    return box.x, box.y, box.x + box.width, box.y + box.height


def text_extent(label):
    return label.x, label.y - 8, label.x + text_width(label.text, SMALL), label.y + 2


def test_children_lie_inside_their_parents(built):
    for drawing in drawings(built):
        boxes = {box.element.key: box for box in drawing.picture.boxes}
        assert set(boxes) == set(drawing.scene.elements)
        for box in boxes.values():
            outside = (0, 0, drawing.picture.width, drawing.picture.height)
            around = extent(boxes[box.parent]) if box.parent else outside
            x, y, right, bottom = extent(box)
            assert around[0] < x and around[1] < y and right < around[2] and bottom < around[3]


def test_siblings_do_not_overlap(built):
    for drawing in drawings(built):
        for a, b in combinations(drawing.picture.boxes, 2):
            if a.parent == b.parent:
                assert not overlap(extent(a), extent(b)), (a.element.key, b.element.key)


def test_labels_overlap_neither_each_other_nor_boxes_of_parts(built):
    for drawing in drawings(built):
        labels = drawing.picture.labels
        for a, b in combinations(labels, 2):
            assert not overlap(text_extent(a), text_extent(b)), (a, b)
        closed = [box for box in drawing.picture.boxes if not box.element.children]
        for label in labels:
            assert not any(overlap(text_extent(label), extent(box)) for box in closed), label


def segments(route):
    for (x0, y0), (x1, y1) in pairwise(route.points):
        yield min(x0, x1) - 0.1, min(y0, y1) - 0.1, max(x0, x1) + 0.1, max(y0, y1) + 0.1


def test_no_wire_runs_through_a_closed_box_or_a_label(built):
    for drawing in drawings(built):
        closed = [box for box in drawing.picture.boxes if not box.element.children]
        inner = [(box.x + 1, box.y + 1, box.x + box.width - 1, box.y + box.height - 1) for box in closed]
        texts = [text_extent(label) for label in drawing.picture.labels]
        for route in drawing.picture.routes:
            for segment in segments(route):
                assert not any(overlap(segment, box) for box in inner), route.wire
                assert not any(overlap(segment, text) for text in texts), route.wire


def test_wires_end_at_the_borders_of_what_they_connect(built):
    for drawing in drawings(built):
        boxes = {box.element.key: box for box in drawing.picture.boxes}
        for route in drawing.picture.routes:
            target, (x, y) = boxes[route.wire.target.key], route.points[-1]
            border = target.y if route.arrow else target.y + target.height
            assert target.x <= x <= target.x + target.width and y == pytest.approx(border)
            source, (x, y) = boxes[route.wire.source.key], route.points[0]
            assert source.x <= x <= source.x + source.width and source.y < y <= source.y + source.height


def test_data_flows_downwards_where_nothing_goes_round_in_a_circle(dqn):
    for route in draw(dqn).picture.routes:
        assert all(after[1] >= before[1] for before, after in pairwise(route.points))


def test_a_circle_has_one_wire_upwards(tangle):
    upwards = {
        (r.wire.source.key, r.wire.target.key)
        for r in draw(tangle, method="run").picture.routes
        if any(after[1] < before[1] for before, after in pairwise(r.points))
    }
    assert ("second", "first") in upwards and ("first", "second") not in upwards


def test_the_same_graph_gives_the_same_picture(dqn):
    assert draw(dqn).svg() == draw(dqn).svg()


def test_a_chain_of_many_layers_is_laid_out():
    layers = [{"type": "dense", "units": 4} for _ in range(30)]
    drawing = draw(NeuralNetwork(layers))
    ys = {box.element.key: box.y for box in drawing.picture.boxes}
    assert [ys[f"dense-{i}"] for i in range(30)] == sorted(ys[f"dense-{i}"] for i in range(30))
