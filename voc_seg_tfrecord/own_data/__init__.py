"""own_data."""
