"""The recipes of CONTRIBUTING.md, followed step by step in a copy of the repository: `make test-recipes`."""
