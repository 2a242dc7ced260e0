"""The workflow of the examples: actions are pinned, permissions are few, and its commands exist."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.examples.guide import ROOT

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOW = yaml.safe_load((ROOT / "examples" / "github_actions" / "deploy.yml").read_text(encoding="utf-8"))
TARGETS = set(re.findall(r"(?m)^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8")))


def steps() -> list[dict[str, Any]]:
    return [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]


def test_every_action_is_pinned_to_a_commit() -> None:
    actions = [step["uses"] for step in steps() if "uses" in step]

    assert len(actions) == 8
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in actions)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ci", "bash .ci/run ${{ matrix.step }}"),
        ("nightly", "bash .ci/run ${{ matrix.step }}"),
        ("documents", "make test-documents PYTHON=python${{ matrix.python }}"),
    ],
)
def test_the_workflows_of_this_repository_run_one_command_with_pinned_actions_and_few_permissions(
    name: str, command: str
) -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))

    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        actions = [step["uses"] for step in job["steps"] if "uses" in step]
        assert [step["run"] for step in job["steps"] if "run" in step] == [command]
        assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in actions)


def test_ci_runs_every_step_of_its_script() -> None:
    def in_workflow(name: str) -> list[str]:
        workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))
        return sorted(step for job in workflow["jobs"].values() for step in job["strategy"]["matrix"]["step"])

    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    of_a_commit = sorted(" ".join(re.findall(r'(?m)^lane_\d="(.*)"$', script)).split())
    [nightly] = re.findall(r'(?m)^nightly="(.*)"$', script)

    assert in_workflow("ci") == of_a_commit
    assert in_workflow("nightly") == sorted(nightly.split())
    assert sorted(re.findall(r"(?m)^step_(\w+)\(", script)) == sorted([*of_a_commit, *nightly.split()])


def test_the_checks_before_a_commit_are_targets_of_the_makefile() -> None:
    configuration = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repository in configuration["repos"] for hook in repository["hooks"]]

    assert all(hook.get("pass_filenames", True) for hook in hooks), "it checks only what changed"
    assert {hook["language"] for hook in hooks} <= {"system", "pygrep"}, "it downloads nothing"
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(BIN)", ".venv/bin")
    lint = lint.replace("$(NODE_TOOL)", ".tools/javascript/node_modules/.bin")
    for hook in hooks:
        if hook["language"] == "system":
            assert " ".join(hook["entry"].split()[:2]).removesuffix(" --force-exclude") in lint, hook["id"]


def test_a_release_is_published_only_after_every_check_and_by_one_job() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    used = [step["uses"] for job in jobs.values() for step in job.get("steps", []) if "uses" in step]
    called = [job["uses"] for job in jobs.values() if "uses" in job]

    assert workflow["permissions"] == {"contents": "read"}
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish"}
    assert jobs["publish"]["environment"] == "release"
    assert set(jobs["publish"]["needs"]) == jobs.keys() - {"publish"}
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action) for action in used)
    for path in called:
        assert True in (triggers := yaml.safe_load((ROOT / path).read_text(encoding="utf-8")))  # "on" in YAML 1.1
        assert "workflow_call" in triggers[True]


@pytest.mark.parametrize(
    ("tag", "problem"),
    [
        ("v98.76.54", "clients/python/pyproject.toml does not have the version 98.76.54"),
        ("simulator-v98.76.54", "simulator/pyproject.toml does not have the version 98.76.54"),
        ("98.76.54", "98.76.54 is not v1.2.3 or simulator-v1.2.3"),
    ],
)
def test_a_tag_without_its_version_is_not_released(tag: str, problem: str, tmp_path: Path) -> None:
    command = ["bash", str(ROOT / ".github" / "release"), tag, str(tmp_path / "dist")]
    process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours

    assert process.returncode == 1
    assert process.stderr == f"release: {problem}\n"
    assert not (tmp_path / "dist").exists()


def test_every_command_is_a_target_of_the_makefile() -> None:
    for command in [step["run"] for step in steps() if "run" in step]:
        make, *arguments = command.split()
        assert make == "make"
        assert {argument for argument in arguments if "=" not in argument} <= TARGETS


def test_only_the_jobs_that_deploy_get_a_token_and_production_follows_test() -> None:
    jobs = WORKFLOW["jobs"]

    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == [
        "deploy-test",
        "deploy-production",
    ]
    assert (jobs["deploy-test"]["needs"], jobs["deploy-production"]["needs"]) == ("check", "deploy-test")
    assert all("environment" in jobs[name] for name in ("deploy-test", "deploy-production"))


def test_a_stack_is_checked_after_its_deployment_before_production_follows() -> None:
    commands = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in WORKFLOW["jobs"].items()}

    deploy, smoke = commands["deploy-test"]
    assert deploy.startswith("make deploy YES=on STACK=qbxml-queue-test REGION=eu-central-1 ")
    assert smoke == "make smoke STACK=qbxml-queue-test REGION=eu-central-1"


def test_every_deployment_names_the_boundary_of_its_stack() -> None:
    commands = [step["run"] for step in steps() if "make deploy" in step.get("run", "")]

    assert len(commands) == 2
    for command in commands:
        stack = re.search(r"STACK=(\S+)", command)
        assert stack
        assert re.search(rf" PARAMS=PermissionsBoundaryArn=arn:aws:iam::\d+:policy/deployers/{stack[1]}/\S+$", command)
