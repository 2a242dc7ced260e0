"""The commands of the documents, run as a reader would paste them: `make test-documents`."""
