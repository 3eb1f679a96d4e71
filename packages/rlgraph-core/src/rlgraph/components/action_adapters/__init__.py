"""Action adapters: from the output of a network to the parameters of a distribution of actions."""
