"""Preprocessing: layers that convert observations to network inputs.

A layer is a `PreprocessLayer`. It has ``call`` and ``get_preprocessed_space(space)``, works on every leaf of a
container, and is part of a stack or, without state and statistics, of the layers of a `NeuralNetwork`.

Two components apply layers: `PreprocessorStack` (a list of layers) and `DictPreprocessorStack` (a list of layers for
each part of a container state). Both have the same interface:

* ``has_state``: whether a layer keeps state (``sequence``); ``learns``: whether one learns (``moving_standardize``);
* ``get_preprocessed_space(space)``: the output Space;
* ``get_internal_states_space(space)``: the Space of the states, None without state;
* API method ``preprocess(inputs, internal_states=None)``: the output for ``inputs [B, ...]``, or with state
  ``{"output", "internal_states"}``. The caller keeps the states of each environment and passes them on with its next
  state; where they are zero, or None, an episode begins;
* API method ``preprocess_frozen(inputs, internal_states=None)``: the same without learning; switched off if no layer
  learns.
"""
