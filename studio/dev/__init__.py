"""What developers run: not part of a running studio."""
