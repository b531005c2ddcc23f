"""Where things lie in a checkout."""

import pathlib

REPOSITORY = pathlib.Path(__file__).parents[2]
DUMMY_DATA = REPOSITORY / "dummy_data"
