"""The long proofs, of which the test suite runs a part: `make prove`."""
