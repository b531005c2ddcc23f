"""Lets `python -m voc_seg_tfrecord` be the command line."""

import sys

from voc_seg_tfrecord.commands.cli import main

sys.exit(main())
