def test_a_returned_view_is_copied(plan):
    assert plan.copies(plan(lambda p, q, x: (p.view(), q.pure(x)))) == ["p._view"]


def test_a_returned_part_of_a_container_is_copied(plan):
    assert plan.copies(plan(lambda p, q, x: {"a": {"b": p.view()}})) == ["p._view"]


def test_a_view_that_is_written_later_is_copied(plan):
    def wiring(p, q, x):
        before = p.view()
        p.write(x)
        return p.pure(before)

    assert plan.copies(plan(wiring)) == ["p._view"]


def test_a_view_that_nobody_can_see_change_is_not_copied(plan):
    def wiring(p, q, x):
        p.write(x)  # before
        result = p.pure(p.view())
        q.write(x)  # another variable
        return result

    assert plan.copies(plan(wiring)) == []


def test_a_returned_view_of_a_view_is_copied(plan):
    assert plan.copies(plan(lambda p, q, x: q.through(q.through(p.view())))) == ["q._through"]


def test_a_view_of_a_view_that_is_written_later_is_copied(plan):
    def wiring(p, q, x):
        after = q.through(p.view())
        p.write(x)
        return p.pure(after)

    assert plan.copies(plan(wiring))


def test_a_copy_is_not_copied_again(plan):
    def wiring(p, q, x):
        view = p.view()
        p.write(x)
        return q.through(view)

    assert plan.copies(plan(wiring)) == ["p._view"]


def test_views_of_inputs_and_of_results_are_not_copied(plan):
    assert plan.copies(plan(lambda p, q, x: (q.through(x), q.through(p.weigh(x))))) == []


def test_results_of_arithmetic_are_not_copied(plan):
    def wiring(p, q, x):
        weighed = p.weigh(x)
        p.write(x)
        return weighed

    assert plan.copies(plan(wiring)) == []
