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
    assert made.host_components == {"q"}


def test_a_part_of_a_container_keeps_its_producer(plan):
    assert plan.after(plan(lambda p, q, x: {"a": {"b": (p.pure(x),)}})) == ["p._pure"]


def test_nothing_is_left_of_a_method_that_hands_through(plan):
    made = plan(lambda p, q, x: {"a": x})
    assert (made.nodes, made.steps, made.writes) == ((), (), frozenset())
