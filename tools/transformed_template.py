"""The template as CloudFormation gets it: after SAM's transformation.

Usage: `python -m tools.transformed_template FILE` writes it as JSON. `make lint` checks this file too, because a linter
cannot see in `template.yaml` what SAM makes of a function or of the API.
"""

from __future__ import annotations

import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samtranslator.translator.transform import transform

from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Mapping


class _NoManagedPolicies:
    """Stands for AWS's list of managed policies: the template names none of them."""

    def load(self) -> dict[str, str]:
        return {}


@cache
def transformed_template() -> Mapping[str, Any]:
    """Return the transformed template with the default parameters. SAM takes seconds for it.

    Sets AWS's region if there is none.
    """
    os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")  # SAM makes a session to find the partition
    template = Template.load(ROOT / "template.yaml")
    document = json.loads(json.dumps(template.document))
    # SAM expects packaged code. Only the translation matters here, so any address will do.
    document["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
    for resource in document["Resources"].values():
        if "CodeUri" in resource.get("Properties", {}):
            resource["Properties"]["CodeUri"] = "s3://bucket/simulator"
    result: Mapping[str, Any] = transform(document, dict(template.parameters), _NoManagedPolicies())
    return result


if __name__ == "__main__":
    Path(sys.argv[1]).parent.mkdir(parents=True, exist_ok=True)
    Path(sys.argv[1]).write_text(json.dumps(transformed_template(), indent=1), encoding="utf-8")
