"""The committed environment file for `sam local` has exactly the functions and variables of the template."""

from __future__ import annotations

import json

from local.programs import ROOT
from local.sam_environment import FILE, sam_environment
from local.template import Template


def test_the_file_has_each_function_with_each_of_its_variables_and_nothing_else() -> None:
    committed = json.loads(FILE.read_text(encoding="utf-8"))

    assert committed == sam_environment(), "run make generate"


def test_the_template_declares_every_variable_of_the_file() -> None:
    """`sam local` silently ignores others."""
    document = Template.load(ROOT / "template.yaml").document
    shared = document["Globals"]["Function"]["Environment"]["Variables"]

    for name, variables in sam_environment().items():
        own = document["Resources"][name]["Properties"].get("Environment", {}).get("Variables", {})
        assert set(variables) == {*shared, *own}


def test_no_variable_leads_to_aws() -> None:
    variables = {value for environment in sam_environment().values() for value in environment.values()}

    assert not [value for value in variables if "amazonaws" in value]


def test_database_queue_and_url_are_those_of_this_machine() -> None:
    endpoint, url = "http://10.1.2.3:9000", "http://localhost:4000"

    for name, variables in sam_environment(endpoint, url).items():
        assert variables["AWS_ENDPOINT_URL_DYNAMODB"] == variables["AWS_ENDPOINT_URL_SQS"] == endpoint, name
        assert variables.get("BASE_URL", url) == url, name
        assert variables.get("WEBHOOK_RETRY_QUEUE_URL", endpoint).startswith(endpoint), name
