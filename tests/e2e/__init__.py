"""The whole service over HTTP: one suite for every stack."""
