"""Models: what is learned of the world beside policies and values."""
