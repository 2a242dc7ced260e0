"""What released versions have stored, and tests that every later version works with it (docs/releasing.md)."""
