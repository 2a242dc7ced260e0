"""A minimal Debian with its own Python runs the commands of the README (`make test-fresh`)."""
