"""Action adapters: layers that compute the parameters of action distributions from network outputs."""
