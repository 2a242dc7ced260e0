"""The functions of the template, called in this process as Lambda calls them."""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from local.permissions import PermittedClient, permissions_of
from local.template import PSEUDO_PARAMETERS, TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from handlers.common.bootstrap import Services
    from local.template import Function, Template

PAYLOAD_BYTES = 6 * 1024 * 1024
"""Lambda: the maximum payload of a synchronous call, in each direction."""

SIDE_BY_SIDE = 64
"""Concurrent calls; one machine needs fewer."""

_running: ContextVar[str] = ContextVar("function")
"""The logical ID of the function that runs in this thread."""


class FunctionError(Exception):
    """A function raised, or returned a result that is not JSON or too large: Lambda's `FunctionError`."""


class StillRunning(Exception):
    """The caller stopped waiting, and the function continues."""


class PayloadTooLarge(Exception):
    """The event is larger than Lambda accepts."""


@dataclass(frozen=True, slots=True)
class Context:
    """Lambda's context object."""

    function_name: str
    deadline: float
    memory_limit_in_mb: int = 1024
    function_version: str = "$LATEST"
    aws_request_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def invoked_function_arn(self) -> str:
        """The function's ARN."""
        return function_arn(self.function_name)

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the function may still run."""
        return max(0, round((self.deadline - time.monotonic()) * 1000))


def function_arn(name: str) -> str:
    """Return the ARN of a local function."""
    return f"arn:aws:lambda:{PSEUDO_PARAMETERS['AWS::Region']}:{PSEUDO_PARAMETERS['AWS::AccountId']}:function:{name}"


class Functions:
    """Every function of the template, imported once, with the environment from the template."""

    def __init__(self, template: Template, root: Path) -> None:
        """Import the handlers of the template in the folder `root`.

        Libraries read the environment of this process, which all functions share. Raises TemplateError when two need
        different values of one variable.
        """
        self._template = template
        self._functions = {function.logical_id: function for function in template.functions()}
        environment: dict[str, str] = {}
        for function in self._functions.values():
            for name, value in function.environment.items():
                if environment.setdefault(name, value) != value:
                    raise TemplateError(f"{name} differs between functions; in one process it cannot")
            source = str((root / function.code_uri).resolve())
            if source not in sys.path:
                sys.path.insert(0, source)
        os.environ.update(environment)
        self._handlers = {name: _imported(function) for name, function in self._functions.items()}
        self._threads = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="lambda")
        self.one_at_a_time = threading.Lock()
        """The gateways hold it while a function runs, because Powertools keeps a call in attributes of a class."""

    @property
    def names(self) -> frozenset[str]:
        """The functions' logical ids."""
        return frozenset(self._handlers)

    @contextmanager
    def separated(self) -> Iterator[None]:
        """Give each function separate services, settings and permissions while the block runs, as in Lambda."""
        # These modules can be imported since `__init__` added the folder of the functions to sys.path.
        from handlers.common.bootstrap import Services, aws_client  # noqa: PLC0415
        from handlers.common.settings import Settings  # noqa: PLC0415

        plain = Services.current
        clients = cache(aws_client)
        separate: dict[str, Services] = {}

        def services_of(function: Function) -> Services:
            def client(service: str) -> PermittedClient:
                made = LambdaClient(self) if service == "lambda" else clients(service)
                return PermittedClient(made, function, permissions_of(self._template, function))

            return Services(Settings(function.environment), client=client, pause=self._pause)

        class CurrentServices:
            """The value of `Services.current`: the services of the function that runs in this thread."""

            def __get__(_, *_owner: Any) -> Services:  # noqa: N805 - `self` is the outer one
                name = _running.get(None)
                if name is None:
                    return plain
                if name not in separate:
                    separate[name] = services_of(self._functions[name])
                return separate[name]

        Services.current = CurrentServices()  # type: ignore[assignment] # a descriptor on the class
        try:
            yield
        finally:
            Services.current = plain

    def _pause(self, seconds: float) -> None:
        """Pause a call that the gateway makes, and let others run meanwhile. Afterwards, restore Powertools' state."""
        # Few programs that import this module call a function that needs it.
        from aws_lambda_powertools.event_handler.api_gateway import BaseRouter  # noqa: PLC0415

        event, context = BaseRouter.current_event, BaseRouter.lambda_context
        self.one_at_a_time.release()
        try:
            time.sleep(seconds)
        finally:
            self.one_at_a_time.acquire()
        BaseRouter.current_event, BaseRouter.lambda_context = event, context

    def close(self) -> None:
        """Accept no more calls."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def invoke(self, logical_id: str, event: dict[str, Any], *, patience_seconds: float | None = None) -> Any:
        """Call a function with an event and return its result; both pass through JSON.

        Raises FunctionError, PayloadTooLarge, and StillRunning after `patience_seconds`. A function that exceeds its
        timeout raises FunctionError but continues, because a thread cannot be stopped.
        """
        payload = json.dumps(event)
        if len(payload.encode()) > PAYLOAD_BYTES:
            raise PayloadTooLarge(f"the event of {logical_id} has {len(payload)} characters")
        seconds = self._functions[logical_id].timeout_seconds
        context = Context(logical_id, time.monotonic() + seconds)
        call = self._threads.submit(self._run, logical_id, json.loads(payload), context)
        try:
            result = json.dumps(call.result(timeout=min(seconds, patience_seconds or seconds)))
        except FutureTimeoutError as error:
            if patience_seconds is not None and patience_seconds < seconds:
                raise StillRunning(f"no result after {patience_seconds} s") from error
            raise FunctionError(f"{logical_id} timed out after {seconds} s") from error
        except Exception as error:
            # Lambda turns every exception of a handler into a FunctionError with its type and message.
            raise FunctionError(f"{type(error).__name__}: {error}") from error
        if len(result.encode()) > PAYLOAD_BYTES:
            raise FunctionError(f"the result of {logical_id} has {len(result)} characters, more than Lambda accepts")
        return json.loads(result)

    def _run(self, logical_id: str, event: Any, context: Context) -> Any:
        _running.set(logical_id)
        return self._handlers[logical_id](event, context)


@dataclass(frozen=True, slots=True)
class LambdaClient:
    """The part of botocore's client of Lambda with which a function calls another one."""

    functions: Functions
    meta: ClassVar[SimpleNamespace] = SimpleNamespace(
        method_to_api_mapping={"invoke": "Invoke"}, service_model=SimpleNamespace(service_name="lambda")
    )

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - as in botocore
        """Call a function and wait for its result."""
        try:
            result = self.functions.invoke(FunctionName, json.loads(Payload))
        except FunctionError as error:
            failure = {"errorMessage": str(error), "errorType": type(error).__name__}
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(json.dumps(failure).encode())}
        return {"Payload": io.BytesIO(json.dumps(result).encode())}


def _imported(function: Function) -> Callable[[Any, Any], Any]:
    module, _, name = function.handler.rpartition(".")
    handler: Callable[[Any, Any], Any] = getattr(importlib.import_module(module), name)
    return handler
