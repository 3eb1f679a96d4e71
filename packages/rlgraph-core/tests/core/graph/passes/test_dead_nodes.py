from rlgraph.core import branch, loop


def test_what_nobody_needs_is_left_out(plan):
    def wiring(p, q, x):
        used = p.pure(x)
        p.weigh(used)
        p.through(p.pure(used))
        p.variables()
        return used

    made = plan(wiring)
    assert plan.before(made) == ["p._pure", "p._weigh", "p._pure", "p._through", "VariablesOf"]
    assert plan.after(made) == ["p._pure"]


def test_what_writes_or_runs_on_the_host_lives_with_all_it_needs(plan):
    def wiring(p, q, x):
        p.write(p.weigh(x))
        q.host(p.pure(x))
        return ()

    made = plan(wiring)
    assert plan.after(made) == ["p._weigh", "p._write", "p._pure", "q._host"]
    assert made.writes == {"p/w"}


def test_an_unused_draw_stays_since_later_numbers_depend_on_it(plan):
    assert plan.after(plan(lambda p, q, x: (p.draw(x), x)[1])) == ["p._draw"]


def test_a_part_of_a_container_keeps_its_producer(plan):
    assert plan.after(plan(lambda p, q, x: {"a": {"b": (p.pure(x),)}})) == ["p._pure"]


def test_nothing_is_left_of_a_method_that_hands_through(plan):
    made = plan(lambda p, q, x: {"a": x})
    assert (made.nodes, made.steps, made.writes) == ((), (), frozenset())


# Regions.


def test_dead_nodes_inside(plan):
    def wiring(p, q, x):
        def body(i, v):
            p.weigh(v)
            used = p.pure(v)
            p.through(used)
            return used

        def side():
            p.weigh(x)
            return p.scale(x, 2.0)

        return loop(2, body, x), branch(p.positive(x), side, side)

    made = plan(wiring)
    loops = ("Loop", ["p._weigh", "p._pure", "p._through"])
    sides = ("Branch", ["p._weigh", "p._scale"], ["p._weigh", "p._scale"])
    assert plan.before(made) == [loops, "p._positive", sides]
    assert plan.after(made) == [
        ("Loop", ["p._pure"]),
        "p._positive",
        ("Branch", ["p._scale"], ["p._scale"]),
    ]


def test_a_loop_or_branch_that_nobody_needs(plan):
    def wiring(p, q, x):
        loop(2, lambda i, v: p.weigh(v), p.pure(x))
        branch(p.positive(x), lambda: p.weigh(x), lambda: x)
        return p.scale(x, 3.0)

    made = plan(wiring)
    assert len(plan.before(made)) == 5
    assert plan.after(made) == ["p._scale"]


def test_one_that_writes_lives_without_what_it_does_not_need(plan):
    def wiring(p, q, x):
        unused, needed = p.weigh(x), p.pure(x)

        def body(i, v):
            q.through(unused)
            p.write(needed)
            return v

        loop(2, body, q.weigh(x))
        branch(q.positive(x), lambda: q.pure(x), lambda: (q.host(x), q.pure(x))[1])
        return ()

    made = plan(wiring)
    assert plan.after(made) == [
        "p._pure",
        "q._weigh",
        ("Loop", ["p._write"]),
        "q._positive",
        ("Branch", ["q._pure"], ["q._host", "q._pure"]),
    ]
    assert made.writes == {"p/w"}


def test_what_only_until_or_the_count_needs(plan):
    def wiring(p, q, x, n):
        return loop(p.index(n), lambda i, v: q.pure(v), x, until=lambda v: q.positive(q.scale(v, 5.0)))

    made = plan(wiring, ("x", "n"))
    assert plan.after(made) == ["p._index", ("Loop", ["q._pure", "q._scale", "q._positive"])]
