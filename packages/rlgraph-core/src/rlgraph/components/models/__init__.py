"""Models: supervised predictors and curiosity."""
