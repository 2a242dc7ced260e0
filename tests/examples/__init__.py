"""The guides and their examples, run as a reader would."""
