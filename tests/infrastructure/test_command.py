"""`python -m local.command` has every command of the operator's function, with its arguments."""

from __future__ import annotations

from inspect import signature

import pytest

from handlers.operate import COMMANDS, command_named
from local import command


def arguments_of(*words: str) -> dict[str, str]:
    """Return the arguments that a command line sends to the operator's function."""
    options = vars(command._parser().parse_args(words))  # noqa: SLF001 - the whole command line, without a stack
    return {name: value for name, value in options.items() if name not in {"stack", "region", "profile", "operation"}}


def test_every_command_of_the_operator_is_there_and_no_other() -> None:
    assert {name.replace("-", "_") for name in command.COMMANDS} == set(COMMANDS)


@pytest.mark.parametrize("name", command.COMMANDS)
def test_the_operator_accepts_the_arguments_of_a_command(name: str) -> None:
    parameters = [
        parameter
        for parameter in signature(COMMANDS[name.replace("-", "_")]).parameters.values()
        if parameter.default is parameter.empty
    ]

    arguments = arguments_of(name, *["text"] * len(parameters))

    assert command_named(name.replace("-", "_"), arguments) is COMMANDS[name.replace("-", "_")]


def test_only_the_limits_that_are_given_are_sent() -> None:
    assert arguments_of("set-limits", "APP", "--creates-per-second", "5", "--waiting", "10") == {
        "app_id": "APP",
        "creates_per_second": "5",
        "waiting": "10",
    }
    assert arguments_of("set-limits", "APP", "--redeliveries-per-minute", "0") == {
        "app_id": "APP",
        "redeliveries_per_minute": "0",
    }
