"""Batches of a built dataset for PyTorch, without TensorFlow.

`loader` gives random crops to train on, and `evaluation_loader` complete images. Both take a
`voc_seg_tfrecord.data_source`. Threads or worker processes decode, crop and pad straight into the
memory of a batch, so that nothing is collated or copied on its way to the training. Workers use
that memory again as soon as nobody holds a tensor of the batch.

Everything random about an example depends on the seed, the epoch and the example. The same seed
gives the same batches for any number of workers, however they are started.
"""

from voc_seg_tfrecord.core import requirements

requirements.require("torch", "voc_seg_tfrecord.torch", "use voc_seg_tfrecord.arrays")

from voc_seg_tfrecord.torch.batch import (
    Batch,
    EvaluationBatch,
    EvaluationDataset,
    SegmentationDataset,
)
from voc_seg_tfrecord.torch.epochs import Draw, EpochBatches
from voc_seg_tfrecord.torch.loaders import SegmentationLoader, evaluation_loader, loader
from voc_seg_tfrecord.torch.transforms import (
    Transform,
    albumentations_transform,
    torchvision_transform,
)

__all__ = [
    "Batch",
    "Draw",
    "EpochBatches",
    "EvaluationBatch",
    "EvaluationDataset",
    "SegmentationDataset",
    "SegmentationLoader",
    "Transform",
    "albumentations_transform",
    "evaluation_loader",
    "loader",
    "torchvision_transform",
]
