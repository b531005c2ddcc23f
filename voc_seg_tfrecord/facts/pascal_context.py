"""The 59 classes of Pascal Context, and their numbers among the 459 of its original labels.

References:
  Mottaghi et al., The Role of Context for Object Detection and Semantic Segmentation in the
    Wild, CVPR 2014: the 59 most frequent classes.
  shelhamer/fcn.berkeleyvision.org, data/pascal-context/classes-400.txt: the numbers by name.
  open-mmlab/mmsegmentation, tools/dataset_converters/pascal_context.py: the same numbers.
"""

NUMBERS = {
    "aeroplane": 2,
    "bag": 9,
    "bed": 18,
    "bedclothes": 19,
    "bench": 22,
    "bicycle": 23,
    "bird": 25,
    "boat": 31,
    "book": 33,
    "bottle": 34,
    "building": 44,
    "bus": 45,
    "cabinet": 46,
    "car": 59,
    "cat": 65,
    "ceiling": 68,
    "chair": 72,
    "cloth": 80,
    "computer": 85,
    "cow": 98,
    "cup": 104,
    "curtain": 105,
    "dog": 113,
    "door": 115,
    "fence": 144,
    "floor": 158,
    "flower": 159,
    "food": 162,
    "grass": 187,
    "ground": 189,
    "horse": 207,
    "keyboard": 220,
    "light": 232,
    "motorbike": 258,
    "mountain": 259,
    "mouse": 260,
    "person": 284,
    "plate": 295,
    "platform": 296,
    "pottedplant": 308,
    "road": 324,
    "rock": 326,
    "sheep": 347,
    "shelves": 349,
    "sidewalk": 354,
    "sign": 355,
    "sky": 360,
    "snow": 366,
    "sofa": 368,
    "table": 397,
    "track": 415,
    "train": 416,
    "tree": 420,
    "truck": 424,
    "tvmonitor": 427,
    "wall": 440,
    "water": 445,
    "window": 454,
    "wood": 458,
}
"""The number in `LabelMap` of `trainval/ID.mat`, by the name that `labels.txt` gives it."""

CLASSES = tuple(NUMBERS)
"""The 59 names, alphabetical as in mmsegmentation. `59_labels.txt` has them in another order, and
calls table, bedclothes and cloth diningtable, bedcloth and clothes."""

LABELS = 459
"""How many classes the original labels have, from 1."""
