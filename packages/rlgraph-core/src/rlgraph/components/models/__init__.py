"""Models: supervised models and curiosity."""
