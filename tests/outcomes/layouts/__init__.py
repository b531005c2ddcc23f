"""Tiny copies of the folder layouts of known public segmentation sets, by field."""
