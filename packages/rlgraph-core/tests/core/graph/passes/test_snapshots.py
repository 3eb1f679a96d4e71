from rlgraph.core import branch, loop


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


# Regions.


def test_what_leaves_a_region_counts_as_returned(plan):
    def looped(p, q, x):
        return q.pure(loop(2, lambda i, v: p.view(), q.first_of(x)))

    def collected(p, q, x):
        return loop(2, lambda i: ((), p.view()), collect=True)[1]

    def branched(p, q, x):
        return q.pure(branch(p.positive(x), p.view, lambda: q.first_of(x)))

    for wiring in (looped, collected, branched):
        assert plan.copies(plan(wiring)) == ["p._view"]


def test_what_stays_inside_is_not_copied(plan):
    def wiring(p, q, x):
        return loop(2, lambda i, v: p.scale(v, q.pure(p.view())), q.first_of(x))

    assert plan.copies(plan(wiring)) == []


def test_a_write_anywhere_in_the_body_comes_later(plan):
    """In the next iteration; and an inner view is older than the writes behind the loop."""

    def from_outside(p, q, x):
        view = p.view()

        def body(i, v):
            p.write(x)
            return q.scale(v, view)

        return loop(2, body, q.first_of(x))

    def written_before(p, q, x):
        def body(i, v):
            p.write(x)
            return q.scale(v, p.view())

        return loop(2, body, q.first_of(x))

    def carried(p, q, x):
        def body(i, v):
            p.write(x)
            return q.pure(v)

        return loop(2, body, p.view())

    def written_in_the_outer_loop(p, q, x):
        def outer(i, v):
            left = loop(2, lambda j, u: q.scale(u, p.view()), v)
            p.write(x)
            return left

        return loop(2, outer, q.first_of(x))

    for wiring in (from_outside, written_before, carried, written_in_the_outer_loop):
        assert plan.copies(plan(wiring)) == ["p._view"]


def test_a_write_on_one_side_or_behind_the_branch(plan):
    def one_side(p, q, x):
        view = p.view()
        branch(p.positive(x), lambda: p.write(x), lambda: None)
        return q.pure(view)

    def behind(p, q, x):
        view = p.view()
        left = branch(p.positive(x), lambda: view, lambda: q.first_of(x))
        p.write(x)
        return q.pure(left)

    def the_other_side(p, q, x):
        return q.pure(branch(p.positive(x), lambda: q.pure(p.view()), lambda: (p.write(x), q.first_of(x))[1]))

    assert plan.copies(plan(one_side)) == ["p._view"]
    assert plan.copies(plan(behind)) == ["p._view"]
    assert plan.copies(plan(the_other_side)) == []


def test_a_loop_or_branch_hands_a_view_on(plan):
    """The view began outside: what comes out is copied where that is returned or written behind."""

    def handed_on(p, q, x):
        return loop(2, lambda i, v: v, p.view())

    def captured(p, q, x):
        view = p.view()
        return loop(2, lambda i, v: view, q.first_of(x))

    def branched(p, q, x):
        view = p.view()
        return branch(p.positive(x), lambda: view, lambda: q.first_of(x))

    def used(p, q, x):
        return q.pure(loop(2, lambda i, v: v, p.view()))

    assert plan.copies(plan(handed_on)) == ["Loop"]
    assert plan.copies(plan(captured)) == ["Loop"]
    assert plan.copies(plan(branched)) == ["Branch"]
    assert plan.copies(plan(used)) == []
