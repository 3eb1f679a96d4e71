"""DOT is read back with a parser written from its grammar (https://graphviz.org/doc/info/lang.html)."""

import re
from itertools import pairwise

import pytest

from rlgraph.draw import draw

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[A-Za-z_][A-Za-z_0-9]*|-?\d+(?:\.\d+)?|[{}\[\];,=])')


class Dot:
    """Nodes by name with attributes and clusters around them, edges, clusters by name with attributes."""

    def __init__(self, text):
        self.tokens, at = [], 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            assert match, text[at : at + 60]
            self.tokens.append(match[1])
            at = match.end()
        self.nodes, self.edges, self.clusters, self.around = {}, [], {}, []
        assert self.take() == "digraph"
        self.name = self.take_id()
        self.take("{")
        self.statements({})
        assert not self.tokens, self.tokens

    def take(self, expected=None):
        token = self.tokens.pop(0)
        assert expected in (None, token), (expected, token, self.tokens[:8])
        return token

    def take_id(self):
        token = self.take()
        assert re.match(r'["\w-]', token), token
        if token[0] != '"':
            return token
        return re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), token[1:-1])

    def attributes(self):
        found = {}
        if self.tokens[0] == "[":
            self.take("[")
            while self.tokens[0] != "]":
                name = self.take_id()
                self.take("=")
                found[name] = self.take_id()
                if self.tokens[0] == ",":
                    self.take()
            self.take("]")
        return found

    def statements(self, own):
        while self.tokens[0] != "}":
            if self.tokens[0] == "subgraph":
                self.take()
                name = self.take_id()
                assert name not in self.clusters
                self.clusters[name] = {"parent": self.around[-1] if self.around else None}
                self.around.append(name)
                self.take("{")
                self.statements(self.clusters[name])
                self.around.pop()
                continue
            name = self.take_id()
            if self.tokens[0] == "=":
                self.take()
                own[name] = self.take_id()
            elif self.tokens[0] == "->":
                self.take()
                target = self.take_id()
                self.edges.append((name, target, self.attributes()))
            else:
                attributes = self.attributes()
                if name not in ("graph", "node", "edge"):
                    assert name not in self.nodes, name
                    self.nodes[name] = {**attributes, "around": tuple(self.around)}
            self.take(";")
        self.take("}")


def test_dot_of_two_components(two):
    dot = Dot(draw(two, method="run").dot())
    assert dot.name == "two"
    assert {name: (node["label"], node["around"]) for name, node in dot.nodes.items()} == {
        "in:run.inputs": ("inputs\nfloat32[B, 3]", ("cluster_two",)),
        "adder": ("adder\nAdder\n_add", ("cluster_two",)),
        "two:_double": ("_double", ("cluster_two",)),
        "out:run": ("run\nfloat32[B, 3]", ("cluster_two",)),
    }
    assert {(a, b): edge["label"] for a, b, edge in dot.edges} == {
        ("in:run.inputs", "adder"): "add",
        ("adder", "two:_double"): "float32[B, 3]",
        ("two:_double", "out:run"): "float32[B, 3]",
    }


def test_dot_is_well_formed_and_complete(built):
    for options in ({}, {"depth": 1}, {"depth": 99}, *({"method": m} for m in built.graph.methods)):
        drawing = draw(built, **options)
        dot = Dot(drawing.dot())
        for element in drawing.scene.elements.values():
            shown = dot.clusters if element.children else dot.nodes
            assert ("cluster_" if element.children else "") + element.key in shown
        # Edges meet nodes that exist; a border is passed through a port in the cluster.
        assert {end for a, b, _ in dot.edges for end in (a, b)} <= set(dot.nodes)
        assert len(dot.edges) == sum(map(len, drawing.scene.wires.values()))
        for name, node in dot.nodes.items():
            if node["shape"] in ("plain", "point"):
                assert f"cluster_{re.split('[<>]', name)[0]}" == node["around"][-1]


def test_clusters_are_nested_as_components_are(dqn):
    clusters = Dot(draw(dqn).dot()).clusters
    assert clusters["cluster_policy/network"]["parent"] == "cluster_policy"
    assert clusters["cluster_policy"]["parent"] == "cluster_dqn"
    assert clusters["cluster_dqn"]["parent"] is None
    assert clusters["cluster_policy"]["label"] == "policy\nDuelingPolicy · 4,675 parameters"


def test_a_value_can_be_followed_through_borders(dqn):
    edges = {(a, b) for a, b, _ in Dot(draw(dqn, method="get_actions").dot()).edges}
    way = (
        "in:get_actions.states",
        "policy<get_deterministic_action",
        "policy/network<call",
        "policy/network/dense-0",
        "policy/network/dense-1",
        "policy/network>call",
        "policy/advantages",
        "policy:_argmax",
        "policy>get_deterministic_action",
        "exploration",
        "out:get_actions",
    )
    assert set(pairwise(way)) <= edges


@pytest.mark.parametrize("title", ['a "b"', "a\\b", "a\\", "{a};"])
def test_texts_are_quoted(two, title):
    drawing = draw(two)
    drawing.scene.root.title = title
    dot = Dot(drawing.dot())
    assert dot.name == title and dot.clusters["cluster_two"]["label"] == f"{title}\nTwo"
