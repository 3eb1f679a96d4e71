"""What loops and branches look like in emitted source."""

from rlgraph.core import branch, loop
from rlgraph.draw import draw, plan_text
from rlgraph.spaces import FloatBox, IntBox

NUMBER, INTEGER = FloatBox(), IntBox()


def segment(made):
    return made.program("run").__globals__["segment_0"].__source__


def test_a_loop_and_a_branch_read_like_python(executor, cell):
    def run(self, x, n):
        first = loop(3, lambda i, v: cell.weigh(v), x, until=lambda v: cell.above(v, 10.0))

        def body(i, a, b):
            return (b, cell.add(a, b)), {"at": i, "a": a}

        (last, _), collected = loop(n, body, first, 1.0, collect=True)
        return branch(cell.above(last, 2.0), lambda: cell.add(last, last), lambda: 0.5), collected

    made = executor(run, cell, x=NUMBER, n=INTEGER)
    assert segment(made) == (
        "def run__segment_0(x, n):\n"
        "    c1_0 = x\n"
        "    for n1 in range(3):\n"
        "        v3 = cell__weigh(c1_0)\n"
        "        v5 = cell__above(v3, constant)\n"
        "        stop1 = bool(v5)\n"
        "        c1_0 = v3\n"
        "        if stop1:\n"
        "            break\n"
        "    c6_0, c6_1 = c1_0, array(constant_2)\n"
        "    all_v6_1_a = []\n"
        "    all_v6_1_at = []\n"
        "    for n6 in range(int(n)):\n"
        "        i6 = array(n6)\n"
        "        v8 = cell__add(c6_0, c6_1)\n"
        "        all_v6_1_a.append(c6_0)\n"
        "        all_v6_1_at.append(i6)\n"
        "        c6_0, c6_1 = c6_1, v8\n"
        "    if not all_v6_1_a:\n"
        "        refuse_empty('root.loop')\n"
        "    v6_1_a = stack(all_v6_1_a)\n"
        "    v6_1_at = stack(all_v6_1_at)\n"
        "    v10 = cell__above_2(c6_0, constant_3)\n"
        "    if bool(v10):\n"
        "        v13 = cell__add_2(c6_0, c6_0)\n"
        "        v11 = v13\n"
        "    else:\n"
        "        v11 = array(constant_4)\n"
        "    return asarray(v11), asarray(v6_1_a), asarray(v6_1_at)\n"
    )


def test_a_loop_around_a_host_function_stands_in_the_driver(executor, counter, cell):
    def run(self, n):
        def body(i, total):
            return cell.add(total, counter.host_number())

        return loop(n, body, 0)

    made = executor(run, counter, cell, n=INTEGER)
    source = made.program("run").__source__
    assert source[source.index("    c1_0") :] == (
        "    c1_0 = copy_array(constant)\n"
        "    for n1 in range(int(n)):\n"
        "        with lock_counter__host_number:\n"
        "            v3 = counter__host_number()\n"
        "            v3 = copy_array(v3)\n"
        "            if type(v3) is not ndarray or v3.dtype is not dtype_int64 or v3.ndim != 0:\n"
        "                v3 = convert_v3(v3)\n"
        "        v5, = segment_0(c1_0, v3)\n"
        "        c1_0 = v5\n"
        "    return c1_0\n"
    )
    assert "def run__segment_0(c1_0, v3):\n" in plan_text(made, "run")


def test_an_empty_side_and_an_empty_body(executor, counter):
    def run(self, flag):
        branch(flag, lambda: None, counter.tick)
        loop(2, lambda i: None)

    made = executor(run, counter, flag=bool)
    assert plan_text(made, "run").endswith(
        "def run__segment_0(flag):\n"
        "    if bool(flag):\n"
        "        pass\n"
        "    else:\n"
        "        counter__tick()\n"
        "    return ()\n"
    )


def test_names_of_arguments_get_in_no_ones_way(executor, cell, backend):
    def run(self, c1_0, n1, i1, range, stack, all_v1_1, stop1, body1):
        def body(i, v):
            value = cell.add(v, cell.to_float(cell.add(i, i1)))
            return cell.add(value, stop1), cell.add(value, range)

        left, collected = loop(n1, body, c1_0, collect=True)
        return left, collected, stack, all_v1_1, body1

    spaces = dict.fromkeys(("c1_0", "range", "stack", "all_v1_1", "stop1", "body1"), NUMBER)
    made = executor(run, cell, backend=backend, n1=INTEGER, i1=INTEGER, **spaces)
    left, collected, *rest = made.execute("run", 1.0, 2, 3, 10.0, 5.0, 6.0, 0.5, 7.0)
    assert left == 1.0 + 3 + 0.5 + 4 + 0.5
    assert collected.tolist() == [14.0, 18.5]
    assert rest == [5.0, 6.0, 7.0]


def test_plans_and_graphs_with_regions_are_shown(executor, cell, counter):
    def run(self, flag, x):
        def body(i, v):
            counter.host_number()
            return branch(flag, lambda: cell.weigh(v), lambda: v)

        return loop(2, body, x)

    made = executor(run, cell, counter, flag=bool, x=NUMBER)
    text = plan_text(made, "run")
    assert text.startswith("# The plan of root.run: 2 nodes in 1 segment, 1 host call between them.\n")
    assert "    for n1 in range(2):\n" in text
    assert "    if bool(flag):\n        v6 = cell__weigh(c1_0)\n" in text
    assert "cell: Cell" in draw(made).text()
