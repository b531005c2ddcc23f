"""Words in names of files and folders that tell images, masks and other files apart."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


IMAGE_WORDS = _set(
    """
    image images im img imgs jpegimages jpg jpeg jpegs photo photos picture pictures pic pics
    original originals orig input inputs frame frames rgb sat raw
    """
)
# `manual` is here for DRIVE's `1st_manual` and HRF's `manual1`, which people drew. Their folder
# `mask` shows the field of view.
MASK_WORDS = _set(
    """
    mask masks label labels lbl lb l annotation annotations annot annots ann anns
    gt gts ground truth truths groundtruth groundtruths seg segs segmentation segmentations
    manual manuals segmap segmaps semantic target targets
    """
)
# In the name of a file these mean a mask: `a_labeled.png`. Beside a word for images they mean the
# photo that was labeled, and a folder called `labeled` may have either.
LABELED_WORDS = _set("labeled labelled annotated")
# Words for files that look like images or masks but are neither. A folder or file with such a name
# is asked about, or loses to one that is called images or masks.
_PREDICTED_WORDS = _set("predict predicts prediction predictions predicted pred preds inference")
PREDICTION_WORDS = _PREDICTED_WORDS | _set(
    """
    run runs result results output outputs heatmap heatmaps prob probs probability probabilities
    logit logits confidence confidences
    """
)
_COLOR_WORDS = _set("color colors colour colours colored coloured colormap")
DRAWING_WORDS = _COLOR_WORDS | _set(
    """
    overlay overlays overlaid vis viz visual visualization visualizations visualisation
    visualisations blend blended check checks qa debug painted drawn drawing drawings show shows
    shown
    """
)
INSTANCE_WORDS = _set("instance instances object objects panoptic")
EDGE_WORDS = _set("boundary boundaries contour contours edge edges")
DEPTH_WORDS = _set("depth depthmap depthmaps disparity")
BACKUP_WORDS = _set(
    """
    thumb thumbs thumbnail thumbnails preview previews backup backups bak old tmp temp trash
    deprecated archive archived copy copies
    """
)
BYPRODUCT_WORDS = (
    PREDICTION_WORDS | DRAWING_WORDS | INSTANCE_WORDS | EDGE_WORDS | DEPTH_WORDS | BACKUP_WORDS
)
# Masks with such names are labels only if an option says so.
WORDS_FOR_NO_LABELS = BYPRODUCT_WORDS - _COLOR_WORDS - BACKUP_WORDS
ILLUSTRATION_WORDS = _set(
    """
    doc docs documentation asset assets figure figures fig figs chart charts plot plots drawing
    drawings teaser logo logos screen screenshot screenshots readme banner icon icons
    """
)
# Words for masks that a model made. They are asked about, even beside a word for masks, and they
# decide nothing else: `auto` may be a class and `sam` a person.
MODEL_WORDS = _PREDICTED_WORDS | _set(
    """
    pseudo weak auto infer inferred estimate estimates estimated submission submissions yhat
    unet nnunet segformer deeplab deeplabv sam
    """
)
MODEL_NAMES = ("y hat", "best model", "u net", "deep lab")
"""Likewise; each is several words, as `words` takes a name apart."""
# Words for a set that may be a copy or a part of another set beside it. Some are also byproducts:
# those tell which files are images and masks, these whether two sets belong together.
EXTRA_WORDS = _set(
    """
    aug augs augmented augmentation augmentations fold folds backup backups bak old sample
    samples example examples demo demos crop crops cropped resized patches tiles thumb
    thumbs thumbnail thumbnails preview previews copy copies
    """
)
ROLE_WORDS = IMAGE_WORDS | MASK_WORDS | LABELED_WORDS | BYPRODUCT_WORDS
