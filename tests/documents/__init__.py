"""The commands of the documents, run as a reader would paste them: `make test-documents`.

A reader pastes what stands there. Tests of the programs behind the commands missed one of six that had stopped working,
and marks in the pages would be forgotten on the next page.
"""
