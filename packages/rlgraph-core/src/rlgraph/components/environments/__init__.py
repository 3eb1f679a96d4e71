"""Environments as components: they are stepped inside of programs, on every backend."""
