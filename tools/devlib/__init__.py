"""What `tools/dev.py` is made of. Standard library only."""
