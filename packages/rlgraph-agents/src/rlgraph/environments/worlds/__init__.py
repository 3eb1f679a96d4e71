"""Small environments that come with RLgraph."""
