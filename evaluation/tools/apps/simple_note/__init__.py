"""Notes with titles and tags."""
