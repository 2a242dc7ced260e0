"""Generates the types before each build. A source distribution contains them, so it needs no repository."""

import runpy
from pathlib import Path

from setuptools import setup

GENERATOR = Path(__file__).resolve().with_name("generate.py")

if GENERATOR.exists():
    runpy.run_path(str(GENERATOR), run_name="__main__")

setup()
