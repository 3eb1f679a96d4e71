"""Emitted source: what it looks like, what it computes, and that no name of a user can get in its way."""

import linecache
import traceback

import numpy as np
import pytest

from rlgraph.core import (
    AssemblyError,
    Component,
    GraphExecutor,
    InputError,
    RLGraphError,
    graph_fn,
    rlgraph_api,
)
from rlgraph.core.graph.emission import SourceFunction, identifier
from rlgraph.spaces import Dict, FloatBox, IntBox, Tuple

BATCH = FloatBox(add_batch_rank=True)
X = np.array([1.0, 2.0, 3.0], np.float32)


class Scale(Component):
    """One variable, one number."""

    def __init__(self, factor=2.0, **kwargs):
        self.factor = factor
        super().__init__(**kwargs)

    def create_variables(self, input_spaces, action_space=None):
        self.offset = self.get_variable("offset", float, initializer=0.5)

    @rlgraph_api
    def call(self, x):
        return self._scale(x)

    @graph_fn
    def _scale(self, ops, x):
        return x * self.factor + self.offset


def executor(function, *components, spaces=None, defaults=(), **options):
    root = type("Root", (Component,), {"run": rlgraph_api(function)})(*components, scope="root")
    return GraphExecutor(root, spaces or {}, **options)


def test_the_source_reads_like_the_plan():
    one, two = Scale(3.0, scope="one"), Scale(scope="two")
    made = executor(lambda self, x: two.call(one.call(x)), one, two, spaces={"x": BATCH}, backend="numpy")
    driver = made.program("run").__source__
    assert driver == (
        "def run(x):\n"
        "    if type(x) is not ndarray or x.dtype is not dtype_float32 or x.ndim != 1:\n"
        "        x = convert_x(x)\n"
        f"    v{made.plan('run').nodes[-1].id}, = segment_0(x)\n"
        f"    return v{made.plan('run').nodes[-1].id}\n"
    )
    first, last = (node.id for node in made.plan("run").nodes)
    segment = made.program("run").__globals__["segment_0"].__source__
    assert segment == (
        "def run__segment_0(x):\n"
        f"    v{first} = one__scale(x)\n"
        f"    v{last} = two__scale(v{first})\n"
        f"    return asarray(v{last}),\n"
    )
    np.testing.assert_allclose(made.execute("run", X), (X * 3.0 + 0.5) * 2.0 + 0.5)


def test_identifiers():
    assert identifier("policy/dense-0", "_dense") == "policy__dense_0__dense"
    assert identifier("a b/c.d", "f") == "a_b__c_d__f"
    assert identifier("2nd/layer", "f") == "_2nd__layer__f"


def test_tracebacks_show_the_emitted_source(backend):
    class Bomb(Component):
        @rlgraph_api
        def call(self, x):
            return self._explode(x)

        @graph_fn(host=True, spaces=BATCH)
        def _explode(self, x):
            raise RuntimeError("boom")

    bomb = Bomb(scope="bomb")
    made = executor(lambda self, x: bomb.call(x), bomb, spaces={"x": BATCH}, backend=backend)
    with pytest.raises(RuntimeError, match="boom") as error:
        made.execute("run", X)
    text = "".join(traceback.format_exception(error.value))
    assert "<rlgraph plan run #" in text
    assert "= bomb__explode(x)" in text


def test_source_survives_a_check_of_the_line_cache():
    function = SourceFunction("f", ["x"], {"y": 1})
    function.lines.append("return x + y")
    f = function.compile()
    assert f(2) == 3
    linecache.checkcache()
    assert linecache.getline(f.__code__.co_filename, 2) == "    return x + y\n"
    assert SourceFunction("g").source == "def g():\n    pass\n"


def test_functions_of_one_source_share_their_code():
    """Else each agent of a process would leave code behind, and what frameworks remember of it."""
    one, two = (SourceFunction("f", ["x"], {"y": y}) for y in (1, 2))
    for function in (one, two):
        function.lines.append("return x + y")
    before = len(linecache.cache)
    one, two = one.compile(), two.compile()
    assert one.__code__ is two.__code__ and (one(1), two(1)) == (2, 3)
    assert len(linecache.cache) <= before + 1


def test_two_functions_of_one_name_have_sources_of_their_own():
    functions = [SourceFunction("f"), SourceFunction("f")]
    for number, function in enumerate(functions):
        function.lines.append(f"return {number + 1}")
    one, two = (function.compile() for function in functions)
    assert one.__code__.co_filename != two.__code__.co_filename
    assert (one(), two()) == (1, 2)


# Containers.

NESTED = Dict(a=BATCH, b=Dict(c=BATCH, d=Tuple(BATCH, IntBox(5, add_batch_rank=True))))


class Heads(Component):
    @rlgraph_api
    def call(self, x):
        made = self._combine(x, {"first": x["a"], "rest": (x["b"]["c"], x["b"]["d"][0])})
        return {"made": made, "again": (made["sum"], x["b"]["d"][1])}

    @graph_fn
    def _combine(self, ops, x, literal):
        return {
            "sum": x["a"] + x["b"]["c"] + x["b"]["d"][0],
            "parts": (literal["first"] * 2.0, literal["rest"][0] - literal["rest"][1]),
        }


def nested(seed=0):
    rng = np.random.default_rng(seed)
    a, c, d = rng.normal(size=(3, 4)).astype(np.float32)
    return {"a": a, "b": {"c": c, "d": (d, np.arange(4))}}


def check_heads(out, x):
    a, c, (d, i) = x["a"], x["b"]["c"], x["b"]["d"]
    assert sorted(out) == ["again", "made"]
    np.testing.assert_allclose(out["made"]["sum"], a + c + d, rtol=1e-6)
    np.testing.assert_allclose(out["made"]["parts"][0], a * 2.0, rtol=1e-6)
    np.testing.assert_allclose(out["made"]["parts"][1], c - d, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(out["again"][0], a + c + d, rtol=1e-6)
    np.testing.assert_array_equal(out["again"][1], i)


def test_nested_inputs_and_outputs(backend):
    made = GraphExecutor(Heads(scope="heads"), {"x": NESTED}, backend=backend)
    check_heads(made.execute("call", nested()), nested())
    check_heads(made.execute("call", x=nested(1)), nested(1))


def test_containers_pass_through_components_and_host_functions(backend):
    class Host(Component):
        @rlgraph_api
        def call(self, x):
            return self._host(x)

        @graph_fn(host=True, spaces=NESTED)
        def _host(self, x):
            return {"a": x["a"] + 1.0, "b": {"c": x["b"]["c"], "d": x["b"]["d"]}}

    host, heads = Host(scope="host"), Heads(scope="heads")
    made = executor(
        lambda self, x: heads.call(host.call(x)), host, heads, spaces={"x": NESTED}, backend=backend
    )
    x = nested()
    expected = {**x, "a": x["a"] + np.float32(1.0)}
    check_heads(made.execute("run", x), expected)


def test_wrong_structure_of_an_input(backend):
    made = GraphExecutor(Heads(scope="heads"), {"x": NESTED}, backend=backend)
    x = nested()
    surplus = {**x, "b": {**x["b"], "e": x["a"]}}
    for wrong in (
        {"a": x["a"]},
        x["a"],
        None,
        {"a": x["a"], "b": {"c": x["b"]["c"], "d": (x["a"],)}},
        {**x, "z": x["a"]},
        surplus,
        {**x, "b": {**x["b"], "d": (*x["b"]["d"], x["a"])}},
    ):
        with pytest.raises(InputError, match="call: argument x"):
            made.execute("call", wrong)
    with pytest.raises(
        InputError, match=r"expected {a: .*}, given {a: ndarray, b: {c: ndarray, d: .*, e: ndarray}}"
    ):
        made.execute("call", surplus)
    for wrong, differences in (
        ({"a": x["a"]}, "; 'b' is missing"),
        (surplus, "; 'b/e' is not expected"),
        ({**x, "b": {**x["b"], "d": (x["a"].tolist(),)}}, "; 'b/d/1' is missing"),
        ({"A": x["a"], "b": {"c": x["a"]}}, "; 'a' is missing; 'b/d' is missing; 'A' is not expected"),
    ):
        with pytest.raises(InputError, match=rf"}}{differences}$"):
            made.execute("call", wrong)


def test_empty_results(backend):
    class Nothing(Component):
        @rlgraph_api
        def run(self, x):
            self._note(x)

        @rlgraph_api
        def empty(self, x):
            return ()

        @graph_fn(returns=0, host=True, spaces=())
        def _note(self, x):
            pass

    made = GraphExecutor(Nothing(scope="root"), {"x": BATCH}, backend=backend)
    assert made.execute("run", X) is None
    assert made.execute("empty", X) is None


def test_constants_reach_graph_functions(backend):
    class Constants(Component):
        @rlgraph_api
        def run(self, x):
            return self._use(x, None, True, 3, 0.25, "half", (2.0, [1.0]), float("inf"))

        @graph_fn
        def _use(self, ops, x, nothing, flag, whole, share, name, nested, limit):
            assert nothing is None
            assert flag is True
            assert name == "half"
            return ops.minimum(x * whole * share + nested[0] + nested[1][0], limit)

    made = GraphExecutor(Constants(scope="root"), {"x": BATCH}, backend=backend)
    np.testing.assert_allclose(made.execute("run", X), X * 0.75 + 3.0)


def test_arguments_by_keyword_only(backend):
    class Keywords(Component):
        @rlgraph_api
        def run(self, x, *, y):
            return self._tensor(x, factor=y), self._host(x, factor=y)

        @graph_fn
        def _tensor(self, ops, x, *, factor):
            return x * factor

        @graph_fn(host=True, spaces=BATCH)
        def _host(self, x, *, factor):
            return x * factor

    made = GraphExecutor(Keywords(scope="root"), {"x": BATCH, "y": BATCH}, backend=backend)
    tensor, host = made.execute("run", X, y=X + 1.0)
    np.testing.assert_allclose(tensor, X * (X + 1.0))
    np.testing.assert_allclose(host, X * (X + 1.0))


def test_defaults_of_arguments(backend):
    class Defaults(Component):
        @rlgraph_api
        def run(self, x, y=2.0):
            return self._tensor(x, y)

        @graph_fn
        def _tensor(self, ops, x, y):
            return x * y

    made = GraphExecutor(Defaults(scope="root"), {"x": BATCH, "y": float}, backend=backend)
    np.testing.assert_allclose(made.execute("run", X), X * 2.0)
    np.testing.assert_allclose(made.execute("run", X, 3.0), X * 3.0)
    np.testing.assert_allclose(made.execute("run", y=4.0, x=X), X * 4.0)


def test_what_is_none_by_default_and_not_given_is_not_in_the_plan(backend):
    class Optional(Component):
        @rlgraph_api
        def run(self, x, y=None):
            return self._tensor(x, y), self._tensor(x, 5.0)

        @graph_fn
        def _tensor(self, ops, x, y=None):
            return x if y is None else x * y

    made = GraphExecutor(Optional(scope="root"), {"x": BATCH}, backend=backend)
    assert [len(node.arguments) for node in made.built.graph.nodes.values()] == [1, 2]
    first, second = made.execute("run", X)
    np.testing.assert_allclose(first, X)
    np.testing.assert_allclose(second, X * 5.0)
    with_both = GraphExecutor(Optional(scope="root"), {"x": BATCH, "y": BATCH}, backend=backend)
    np.testing.assert_allclose(with_both.execute("run", X, X)[0], X * X)


# Names.


class Mix(Component):
    """Two graph functions and a host function, so that a plan has local names of every kind."""

    def create_variables(self, input_spaces, action_space=None):
        self.w = self.get_variable("w", FloatBox(shape=(3,)), initializer=1.0)

    @rlgraph_api(must_be_complete=False)
    def call(self, x, y):
        both = self._both(x, y, 0.5)
        return self._sum(self._host(both["left"]), both["right"]), self._view()

    @graph_fn
    def _both(self, ops, x, y, constant):
        return {"left": x * 2.0 + constant, "right": y * 3.0}

    @graph_fn(host=True, spaces=FloatBox(add_batch_rank="B"))
    def _host(self, x):
        return x + 1.0

    @graph_fn
    def _sum(self, ops, x, y):
        return x + y

    @graph_fn
    def _view(self, ops):
        return self.w[1:]


NAMES = [
    *("v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v3_left", "v4_left", "v5_left"),
    *("ndarray", "segment_0", "segment_1", "copy_array", "asarray", "array", "to_tensor", "is_grad_enabled"),
    *(
        "set_grad_enabled",
        "was_recording",
        "constant",
        "constant_0",
        "constant_5",
        "convert_y",
        "dtype_float32",
        "default_y",
    ),
    *("mix__host", "mix__both", "mix__sum", "run", "run__segment_0", "type", "part_errors", "refuse_y"),
]


@pytest.mark.parametrize("name", NAMES)
def test_arguments_may_have_any_name(name, backend):
    mix = Mix(scope="mix")
    namespace = {"mix": mix}
    exec(f"def run(self, {name}, y):\n    return mix.call({name}, y)", namespace)
    made = executor(namespace["run"], mix, spaces={name: BATCH, "y": BATCH}, backend=backend)
    for x in (X, [1.0, 2.0, 3.0]):
        total, view = made.execute("run", **{name: x, "y": X + 1.0})
        np.testing.assert_allclose(total, X * 2.0 + 1.5 + (X + 1.0) * 3.0)
        np.testing.assert_array_equal(view, [1.0, 1.0])


def test_names_of_parts_do_not_collide(backend):
    class Parts(Component):
        @rlgraph_api
        def run(self, a, a_b, a_b_c):
            return self._stack(a["b"], a["b_c"], a["d"]["e"], a["d_e"], a_b["c"], a_b["d"], a_b_c)

        @graph_fn
        def _stack(self, ops, one, two, three, four, five, six, seven):
            return ops.stack([one, two, three, four, five, six, seven])

    spaces = {
        "a": Dict(b=float, b_c=float, d=Dict(e=float), d_e=float),
        "a_b": Dict(c=float, d=float),
        "a_b_c": float,
    }
    made = GraphExecutor(Parts(scope="root"), spaces, backend=backend)
    out = made.execute("run", {"b": 1, "b_c": 2, "d": {"e": 3}, "d_e": 4}, {"c": 5, "d": 6}, 7)
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 5, 6, 7])


def test_parts_of_outputs_do_not_collide(backend):
    class Parts(Component):
        @rlgraph_api
        def run(self, x):
            one, two = self._host(x)
            return self._stack(one["b_c"], one["b"]["c"], two["b"]["c"], self._plain(x), one["a"])

        @graph_fn(
            host=True, returns=2, spaces=lambda self, x: (Dict(a=x, b_c=x, b=Dict(c=x)), Dict(b=Dict(c=x)))
        )
        def _host(self, x):
            return {"a": x, "b_c": x + 1, "b": {"c": x + 2}}, {"b": {"c": x + 3}}

        @graph_fn
        def _plain(self, ops, x):
            return x + 4.0

        @graph_fn
        def _stack(self, ops, a, b, c, d, e):
            return ops.stack([a, b, c, d, e])

    made = GraphExecutor(Parts(scope="root"), {"x": float}, backend=backend)
    np.testing.assert_array_equal(made.execute("run", 0.0), [1, 2, 3, 4, 0])


def test_scopes_that_look_alike(backend):
    one, two = Scale(2.0, scope="a-b"), Scale(3.0, scope="a_b")
    made = executor(
        lambda self, x: (one.call(x), two.call(x)), one, two, spaces={"x": BATCH}, backend=backend
    )
    first, second = made.execute("run", X)
    np.testing.assert_allclose(first, X * 2.0 + 0.5)
    np.testing.assert_allclose(second, X * 3.0 + 0.5)


def test_host_components_whose_scopes_look_alike(backend):
    class Host(Component):
        def __init__(self, number, **kwargs):
            self.number = number
            super().__init__(**kwargs)

        @rlgraph_api
        def call(self, x):
            return self._host(x)

        @graph_fn(host=True, spaces=BATCH)
        def _host(self, x):
            return x + self.number

    one, two = Host(1, scope="a-b"), Host(2, scope="a_b")
    made = executor(
        lambda self, x: (one.call(x), two.call(x)), one, two, spaces={"x": BATCH}, backend=backend
    )
    first, second = made.execute("run", X)
    np.testing.assert_allclose(first, X + 1)
    np.testing.assert_allclose(second, X + 2)


def test_one_graph_function_called_often(backend):
    class Again(Scale):
        @rlgraph_api(must_be_complete=False)
        def again(self, x):
            return self._scale(x)

    scale = Again(2.0, scope="scale")

    def run(self, x):
        return scale.again(scale.again(scale.call(x)))

    made = executor(run, scale, spaces={"x": BATCH}, backend=backend)
    np.testing.assert_allclose(made.execute("run", X), ((X * 2 + 0.5) * 2 + 0.5) * 2 + 0.5)


def test_no_two_things_share_a_name():
    function = SourceFunction("f", ["x"], {"y": 1})
    assert [function.fresh(name) for name in ("f", "x", "y", "z", "z", "z")] == [
        "f_2",
        "x_2",
        "y_2",
        "z",
        "z_2",
        "z_3",
    ]
    value = object()
    assert [function.bind("a", value), function.bind("a", value)] == ["a", "a_2"]
    assert [function.share("b", value), function.share("b", object())] == ["a", "b"]
    assert function.namespace == {"y": 1, "a": value, "a_2": value, "b": function.namespace["b"]}


# What host functions give back.


class Returning(Component):
    def __init__(self, value, space=BATCH, returns=1):
        self.value = value
        self.space = space
        super().__init__(scope="root")

    @rlgraph_api
    def raw(self):
        return self._host()

    @rlgraph_api
    def used(self):
        return self._tensor(self._host())

    @graph_fn(host=True, spaces=lambda self: self.space)
    def _host(self):
        return self.value

    @graph_fn
    def _tensor(self, ops, x):
        return x + x


@pytest.mark.parametrize(
    ("value", "space", "dtype"),
    [
        (1.5, FloatBox(), np.float32),
        (np.float32(1.5), FloatBox(), np.float32),
        (np.float64(1.5), FloatBox(), np.float32),
        ([1.0, 2.0], BATCH, np.float32),
        (np.array([1.0, 2.0]), BATCH, np.float32),
        (np.array([1, 2]), BATCH, np.float32),
        (3, IntBox(), np.int64),
        (np.array([3], np.int32), IntBox(add_batch_rank=True), np.int64),
    ],
)
def test_host_outputs_take_their_declared_dtype(value, space, dtype, backend):
    made = GraphExecutor(Returning(value, space), {}, backend=backend)
    for method, factor in (("raw", 1), ("used", 2)):
        out = made.execute(method)
        assert (type(out), out.dtype) == (np.ndarray, dtype)
        np.testing.assert_array_equal(out, np.asarray(value) * factor)


@pytest.mark.parametrize(
    ("value", "space"),
    [
        (1.5, IntBox()),
        (1.5, BATCH),
        (np.zeros((2, 2)), BATCH),
        ("text", FloatBox()),
        (None, BATCH),
        (np.zeros(5), FloatBox(shape=(3,))),
        (np.zeros((2, 5)), FloatBox(shape=(3,), add_batch_rank=True)),
        (np.zeros((2, 3)), FloatBox(shape=(3,), add_batch_rank=4)),
    ],
)
def test_host_outputs_that_are_not_what_was_declared(value, space, backend):
    made = GraphExecutor(Returning(value, space), {}, backend=backend)
    with pytest.raises(RLGraphError, match="host function root._host: it declares .* and returned"):
        made.execute("used")


def test_host_functions_may_reuse_their_buffer(backend):
    class Counter(Component):
        def create_variables(self, input_spaces, action_space=None):
            self.buffer = self.get_variable("buffer", FloatBox(shape=(1,)), host=True)

        @rlgraph_api
        @graph_fn(host=True, spaces=FloatBox(shape=(1,)))
        def next(self):
            self.buffer += 1.0
            return self.buffer

        @rlgraph_api
        def thrice(self):
            return self._stack(self._next(), self._next(), self._next())

        @rlgraph_api
        def reshaped(self):
            return self._reshape(self._next())

        @graph_fn
        def _stack(self, ops, a, b, c):
            return ops.concat([a, b, c])

        @graph_fn
        def _reshape(self, ops, a):
            return ops.reshape(a, (1, 1))

    made = GraphExecutor(Counter(scope="counter"), {}, backend=backend)
    np.testing.assert_array_equal(made.execute("thrice"), [1.0, 2.0, 3.0])
    kept = [made.execute("next"), made.execute("reshaped"), made.execute("next")]
    made.execute("thrice")
    assert [float(x.reshape(-1)[0]) for x in kept] == [4.0, 5.0, 6.0]


# Fast paths.


class Log(Component):
    """A host function that keeps what it is given, with a fast path for single numbers."""

    def __init__(self, **kwargs):
        self.fast, self.slow = [], []
        super().__init__(**kwargs)

    @rlgraph_api
    def add(self, x, y, number=None):
        parts = {"b": y, "a": x}
        return self._add(x, parts) if number is None else self._add(x, parts, number)

    @graph_fn(returns=0, host=True, spaces=())
    def _add(self, x, parts, number=None):
        self.slow.append((x, parts))

    @_add.fast_path
    def _add_one(self):
        def add(*leaves):
            if type(leaves[0]) is not str:
                return False
            self.fast.append(leaves)
            return True

        return add


def log(method, **options):
    logged = Log(scope="log")
    return logged, executor(method(logged), logged, spaces={"x": BATCH, "y": BATCH}, **options)


def test_a_fast_path_is_given_all_leaves_as_they_came(backend):
    logged, made = log(lambda log: lambda self, x, y: log.add(x, y), backend=backend)
    assert made.execute("run", "one", "two") is None
    assert (logged.fast, logged.slow) == ([("one", "one", "two")], [])
    made.execute("run", [1.0], X[:1])
    ((x, parts),) = logged.slow
    assert (x.tolist(), parts["a"].tolist(), parts["b"].tolist()) == ([1.0], [1.0], [1.0])
    with pytest.raises(InputError, match="argument y: expected"):
        made.execute("run", X, "two")
    assert len(logged.fast) == len(logged.slow) == 1


@pytest.mark.parametrize(
    "method",
    [
        lambda log: lambda self, x, y: (log.add(x, y), x)[1],
        lambda log: lambda self, x, y: (log.add(x, y), log.add(y, x))[0],
        lambda log: lambda self, x, y: log.add(x, y, 2),
    ],
    ids=["a result", "another call", "an argument of its own"],
)
def test_a_plan_that_does_more_has_no_fast_path(method):
    logged, made = log(method, backend="numpy")
    made.execute("run", X, X)
    assert not logged.fast and logged.slow
    assert "fast_" not in made.program("run").__source__


def test_a_fast_path_is_for_host_functions_without_outputs():
    for options in ({}, {"returns": 0}, {"host": True, "spaces": BATCH}):
        function = graph_fn(**options)(lambda self, ops, x: x)
        with pytest.raises(AssemblyError, match="a fast path is for host functions without outputs"):
            function.fast_path(lambda self: None)
