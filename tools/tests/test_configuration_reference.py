"""The generated reference of a run's document has every key."""

from configuration_reference import configuration_markdown

from rlgraph.runs.run_spec import CheckpointsSpec, RunSpec


def test_every_key_has_a_row() -> None:
    reference = configuration_markdown()
    for name in RunSpec.model_fields:
        assert f"| `{name}` |" in reference
    section = reference.partition("### `checkpoints`")[2].partition("###")[0]
    for name in CheckpointsSpec.model_fields:
        assert f"| `{name}` |" in section
    assert "| `interval` | an integer >= 1 or null | `50000` |" in section
    assert "### `logging.wandb`" in reference
    assert "| `steps` | an integer >= 1 | (must be given) | environment steps |" in reference
