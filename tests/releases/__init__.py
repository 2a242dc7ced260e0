"""What released versions have stored, and tests that every later version works with it (docs/releasing.md).

Items that an old version wrote are the only honest input; fixtures that today's code makes change with it. Its code is
in git, so nothing of it is kept. Its packages are not installed: the form of items does not depend on them.
"""
