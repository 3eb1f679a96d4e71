"""Action adapters: from what a network puts out to the parameters of a distribution of actions."""
