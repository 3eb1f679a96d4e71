"""Several roots in one graph, which share components and variables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rlgraph.core.component.component import Component
from rlgraph.core.component.members import BoundApiMethod
from rlgraph.core.errors import AssemblyError


class Roots(Component):
    """A root that combines several roots and their API methods.

    A method keeps its name if the name is unique; otherwise it is prefixed with the root's scope:
    ``actor_get_weights``, ``learner_get_weights``.

    Args:
        roots: components with different scopes; components that are part of several roots are shared.

    Raises:
        AssemblyError: no roots, a duplicate root, or two roots with one scope.
    """

    def __init__(self, roots: Sequence[Component]):
        if not roots:
            raise AssemblyError("expected at least one root, given an empty list")
        twice = next((root for root, number in Counter(roots).items() if number > 1), None)
        if twice is not None:
            raise AssemblyError(f"the root {twice.scope!r} is given twice: give it once")
        super().__init__(*roots, scope="roots")
        owned = [
            (root, name)
            for root in roots
            for name in sorted(root.api_methods().keys() - root.switched_off_apis)
        ]
        owners = Counter(name for _, name in owned)
        self.names: dict[tuple[str, str], str] = {}
        for root, name in owned:
            prefix = re.sub(r"\W", "_", root.scope)
            exposed = name if owners[name] == 1 else f"{prefix}_{name}"
            self.names[root.scope, name] = exposed
            self.expose_api(root, name, exposed)

    def name_of(self, method: BoundApiMethod) -> str:
        """The name here of ``root.method`` of one of the roots."""
        return self.names.get((method.component.scope, method.name), method.name)
