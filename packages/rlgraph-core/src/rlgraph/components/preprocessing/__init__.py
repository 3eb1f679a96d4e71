"""Preprocessing: layers that convert observations to network inputs.

A layer is a `PreprocessLayer`. It has ``call`` and ``get_preprocessed_space(space)``, works on every leaf of a
container, and is part of a stack or, without state, of the layers of a `NeuralNetwork`.

Two components apply layers: `PreprocessorStack` (a list of layers) and `DictPreprocessorStack` (a list of layers for
each part of a container state). Both have the same interface:

* ``has_state``: whether a layer keeps state (``sequence``, ``moving_standardize``);
* ``get_preprocessed_space(space)``: the output Space;
* API method ``preprocess(inputs, env_indices=None)``: ``inputs [B, ...]`` and, if the stack has state,
  ``env_indices [B]``, int64: the environment of each row, each at most once. Every row is one new state of its
  environment. A stack without state ignores ``env_indices``.
* API method ``reset(env_indices)``, ``env_indices [N]``: the environments begin new episodes. Only if the stack has
  state; switched off otherwise.

The order of calls at the end of an episode: ``preprocess`` of the final state, ``reset``, ``preprocess`` of the first
state of the next episode. New environments count as reset. An environment is an integer from
0 to ``num_environments - 1`` (64 by default) of each layer with state.
"""
