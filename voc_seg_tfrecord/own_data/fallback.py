"""What a check reads by where a build would stop: a plan of which less is decided."""

import dataclasses

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError, MaskError, VocSegError
from voc_seg_tfrecord.own_data.plan import Plan, make_plan
from voc_seg_tfrecord.trees.tree import VocTree

_EVERYTHING = {"train": 1.0}


@dataclasses.dataclass(frozen=True)
class Fallback:
    """A plan to read by, and what stops a build from having it.

    Attributes:
      plan: the plan, None if nothing can be read.
      problems: the errors that a build would stop at.
      splits: whether the plan's splits are those of a build; otherwise it has all images in one.
      meaning: whether it is decided what the masks mean; otherwise their rule says nothing.
    """

    plan: Plan | None
    problems: tuple[VocSegError, ...] = ()
    splits: bool = True
    meaning: bool = True


def plan_to_read(tree: VocTree, config: VocSegConfig) -> Fallback:
    """Decides what a build would decide, and goes on with less where that fails.

    Ids in several splits are allowed next, and then the lists are not asked at all.

    Raises:
      ConfigError: if the config itself is wrong, as a build would raise it.
    """
    problems: dict[str, VocSegError] = {}
    attempt, splits, meaning = config, True, True
    while True:
        try:
            plan = make_plan(tree, attempt)
            return Fallback(plan, tuple(problems.values()), splits, meaning)
        except VocSegError as error:
            if isinstance(error, ConfigError) and not problems:
                raise
            problems.setdefault(str(error), error)
            if isinstance(error, MaskError) and meaning:
                attempt, meaning = dataclasses.replace(attempt, masks_by="index"), False
            elif not attempt.overlap:
                attempt = dataclasses.replace(attempt, overlap=True)
            elif splits:
                attempt = dataclasses.replace(attempt, splits=_EVERYTHING, missing_mask="skip")
                splits = False
            else:
                return Fallback(None, tuple(problems.values()), splits, meaning)
