"""What runs in other processes, and how executors talk to it."""
