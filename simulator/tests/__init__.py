"""The simulator's tests. They need the simulator, pytest, pytest-socket and setuptools, and nothing of the service."""
