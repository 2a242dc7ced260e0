"""`sam local` on this machine: an image, a database and a queue that containers reach, and sample records.

docs/operations.md (One function with `sam local`) is the guide.
"""
