"""The template transforms, is valid, and gives no function more than it needs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from samtranslator.translator.transform import transform

from local.template import Template, TemplateError
from tests.support.api_client import routes

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Template.load(ROOT / "template.yaml")


class NoManagedPolicies:
    """Stands for AWS's list of managed policies: the template names none of them."""

    def load(self) -> dict[str, str]:
        return {}


def statements() -> list[tuple[str, dict[str, Any]]]:
    """Return every statement of every role, with the role's name."""
    found = []
    for name, role in TEMPLATE.resources("AWS::IAM::Role").items():
        for policy in role.get("Policies", []):
            found += [(name, statement) for statement in policy["PolicyDocument"]["Statement"]]
    return found


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def test_sam_transforms_the_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    document = json.loads(json.dumps(TEMPLATE.document))
    for resource in document["Resources"].values():
        # SAM takes code that was packaged; here the translation is wanted, not the code.
        if "CodeUri" in resource.get("Properties", {}):
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    document["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"

    made = transform(document, TEMPLATE.parameters, NoManagedPolicies())

    functions = [each for each in made["Resources"].values() if each["Type"] == "AWS::Lambda::Function"]
    assert len(functions) == len(TEMPLATE.functions())


def throttles() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the settings of each method: `/` is escaped in paths, and one stands before them."""
    return {
        (one["HttpMethod"], one["ResourcePath"][1:].replace("~1", "/")): one for one in TEMPLATE.api()["MethodSettings"]
    }


def test_the_endpoint_that_checks_passwords_is_throttled() -> None:
    settings = throttles()["POST", "/qbwc"]

    assert 1 <= settings["ThrottlingRateLimit"] == settings["ThrottlingBurstLimit"]


def test_every_method_is_throttled_and_those_without_a_key_more_than_others() -> None:
    limits = {method: settings["ThrottlingRateLimit"] for method, settings in throttles().items()}
    anonymous = {(route.method, route.path) for route in routes() if route.open}

    assert limits.keys() == {("*", "*"), *anonymous}
    assert all(limits[method] < limits["*", "*"] for method in anonymous)


def test_no_role_has_wildcards() -> None:
    for name, statement in statements():
        for action in listed(statement["Action"]):
            assert "*" not in action, f"{name}: {action}"
        for resource in listed(statement["Resource"]):
            assert resource != "*", f"{name}: {statement['Action']}"


def test_no_role_allows_scans() -> None:
    for name, statement in statements():
        assert "dynamodb:Scan" not in listed(statement["Action"]), name


def test_every_function_has_a_role_of_the_template() -> None:
    roles = TEMPLATE.resources("AWS::IAM::Role")
    for function in TEMPLATE.functions():
        assert str(function.properties["Role"]).removesuffix(".Arn") in roles, function.logical_id


@pytest.mark.parametrize(
    "name", sorted(path.name for path in [*ROOT.glob("requirements*.txt"), ROOT / "src/requirements.txt"])
)
def test_requirements_are_pinned_with_hashes_and_name_no_address(name: str) -> None:
    path = ROOT / name if (ROOT / name).exists() and name != "requirements.txt" else ROOT / "src" / name
    text = path.read_text(encoding="utf-8")

    requirements = re.findall(r"(?m)^[a-z0-9].*$", text)
    assert requirements
    for requirement in requirements:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==\S+( ; .*)? \\", requirement), requirement
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= len(requirements)
    assert "://" not in text
    assert "--index-url" not in text


def test_intrinsic_functions_are_resolved(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(
        "Parameters: {Stage: {Type: String, Default: test}}\n"
        "Conditions: {Live: !Equals [!Ref Stage, live], Not: !Not [{Condition: Live}]}\n"
        "Resources:\n"
        "  Queue:\n"
        "    Type: AWS::SQS::Queue\n"
        "    Properties:\n"
        "      QueueName: !Sub '${Stage}-${!Literal}-${Other.Arn}'\n"
        "      Tags: [!If [Live, live, !Ref AWS::NoValue], !Join ['-', [a, !Ref Stage]]]\n"
        "      Policy: !If [Not, yes, no]\n",
        encoding="utf-8",
    )

    properties = Template.load(path).resources("AWS::SQS::Queue")["Queue"]

    assert properties == {"QueueName": "test-${Literal}-Other.Arn", "Tags": ["a-test"], "Policy": True}


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(TemplateError, match="no parameter Nothing"):
        Template.load(ROOT / "template.yaml", {"Nothing": "x"})
