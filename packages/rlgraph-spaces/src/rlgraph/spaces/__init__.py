"""Spaces: type, shape, bounds and ranks of values.

>>> from rlgraph.spaces import Dict, FloatBox, IntBox
>>> Dict(position=FloatBox(-1.0, 1.0, shape=(2,)), lives=IntBox(3)).with_batch_rank().flatten()["lives"]
IntBox(low=0, high=3, add_batch_rank=True)

`rlgraph.spaces.gymnasium` translates from and to gymnasium, `rlgraph.spaces.testing` has hypothesis
strategies. Neither is imported here, so that numpy stays the only requirement.
"""

from rlgraph.spaces.bool_box import BoolBox
from rlgraph.spaces.checks import check_space_equivalence, is_bounded_space, sanity_check_space
from rlgraph.spaces.container_space import ContainerSpace
from rlgraph.spaces.containers import Dict, Tuple
from rlgraph.spaces.errors import SpaceError
from rlgraph.spaces.float_box import FloatBox
from rlgraph.spaces.former_names import IN_SPACES, answer_names
from rlgraph.spaces.int_box import IntBox
from rlgraph.spaces.space import BoxSpace, Space
from rlgraph.spaces.spec import from_spec
from rlgraph.spaces.text_box import TextBox

answer_names(__name__, IN_SPACES)

__all__ = [
    "BoolBox",
    "BoxSpace",
    "ContainerSpace",
    "Dict",
    "FloatBox",
    "IntBox",
    "Space",
    "SpaceError",
    "TextBox",
    "Tuple",
    "check_space_equivalence",
    "from_spec",
    "is_bounded_space",
    "sanity_check_space",
]
