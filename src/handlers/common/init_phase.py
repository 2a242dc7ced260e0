"""Lambda's init phase: it runs at full speed, from the import of a function's module to the end of the module.

`handlers/__init__.py` begins it and `bootstrap.end_init` ends it.
"""

import gc
import os

IN_LAMBDA = "AWS_LAMBDA_INITIALIZATION_TYPE" in os.environ


def begin() -> None:
    """Stop collecting garbage. Imports create a hundred thousand objects, and hardly any is garbage."""
    if IN_LAMBDA:
        gc.disable()


def end() -> None:
    """Collect garbage again. What is there now stays, and later collections leave it out."""
    if IN_LAMBDA:
        gc.freeze()
        gc.enable()
