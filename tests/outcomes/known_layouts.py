"""The folder layouts of 60 known public segmentation sets, drawn anew with made pictures.

`LAYOUTS["Carvana"](folder)` draws the set into an empty folder and returns its `Truth`.
"""

from outcomes.layouts import driving, everyday, field, kaggle, medical, satellite, tools
from outcomes.layouts.drawing import LAYOUTS, Truth

FIELDS = (kaggle, medical, driving, satellite, field, everyday, tools)

__all__ = ["FIELDS", "LAYOUTS", "Truth"]
