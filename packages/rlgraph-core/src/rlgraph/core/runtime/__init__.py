"""What a graph executor needs at run time: programs, locks, input conversion, acting."""
