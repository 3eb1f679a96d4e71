"""Preprocessing: layers that convert observations to network inputs.

A layer is a `PreprocessLayer`. It has ``call`` and ``get_preprocessed_space(space)``, works on every leaf of a
container, and stands in a stack or, if it keeps no state, among the layers of a `NeuralNetwork`.

Two components apply several: `PreprocessorStack` (a list of layers) and `DictPreprocessorStack` (a list of layers for
each part of a container state). Both have the same interface:

* ``has_state``: whether a layer remembers what it was given (``sequence``, ``moving_standardize``);
* ``get_preprocessed_space(space)``: the Space of what comes out;
* API method ``preprocess(inputs, env_indices=None)``: ``inputs [B, ...]`` and, if the stack has state,
  ``env_indices [B]``, int64: which environment each row is from, each at most once. Every row is one new state of its
  environment. A stack without state ignores ``env_indices``.
* API method ``reset(env_indices)``, ``env_indices [N]``: the environments begin new episodes. Only where the stack has
  state; switched off where it has none.

The order of calls at the end of an episode: ``preprocess`` of the final state, ``reset``, ``preprocess`` of the first
state of the next episode. Environments that were never given anything count as reset. An environment is an integer from
0 to ``num_environments - 1`` (64 by default) of each layer with state.
"""
