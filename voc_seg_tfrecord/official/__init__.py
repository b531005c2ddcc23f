"""official."""
