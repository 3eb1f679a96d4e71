"""Environment steppers."""
