"""Settings of the documentation. Build it with `python3 tools/dev.py docs`; every warning is an error."""

import contextlib
import sys
from importlib.metadata import version as _version
from pathlib import Path
from pkgutil import walk_packages

import rlgraph

with contextlib.suppress(ImportError):
    import Box2D  # noqa: F401 (its first import ends the process with a segmentation fault late in a build)

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "RLgraph"
author = "The RLgraph developers"
copyright = "The RLgraph developers"
version = release = _version("rlgraph-core")
#: The address of this project's repository, such as "https://example.org/rlgraph/". It has none yet: fill it in here,
#: and links to the source (the role `repository`, and those of the theme) lead there.
repository_address = ""

extensions = [
    "myst_parser",
    "agent_options",
    "agent_table",
    "algorithm_update",
    "command_reference",
    "component_reference",
    "configuration_reference",
    "gallery",
    "learning_curves",
    "learning_results",
    "metrics_glossary",
    "plain_docstrings",
    "real_output",
    "repository",
    "source_pages",
    "speed",
    "zoo",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["_build", "examples"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"RLgraph {version}"
html_theme_options = (
    {
        "source_repository": repository_address,
        "source_branch": "main",
        "source_directory": "docs/",
    }
    if repository_address
    else {}
)

# Copied without the prompts.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

# The reference is generated below docs/generated/ from the portions that api.md lists, a page per package: every page
# holds the navigation of all, which takes minutes where modules have pages and objects have entries.
autosummary_generate = True
autosummary_ignore_module_all = True
autosummary_context = {
    "packages": [m.name for m in walk_packages(rlgraph.__path__, "rlgraph.") if m.ispkg]
}
toc_object_entries = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_type_comments = False
