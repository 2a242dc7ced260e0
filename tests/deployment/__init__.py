"""`make deploy` against an AWS emulator."""
