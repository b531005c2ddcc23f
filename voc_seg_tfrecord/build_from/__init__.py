"""build_from."""
