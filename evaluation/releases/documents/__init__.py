"""What a pack says of itself, for people and for other tools, made from its manifest. Pure."""
