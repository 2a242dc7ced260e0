"""Measure the cold starts of the built functions beside bare boto3: CPU time up to the first response, and memory.

Run `make .tools/runtime/.installed`, then `python -m benchmarks.cold_starts [--rounds 21] [--before FOLDER] [--all]`.
It builds the artifact for this machine. `--before` is the `code` folder of another build for it, to compare with.

Each start is a new process with Lambda's runtime client. It imports the handler and makes one call with its sample
event (`events/`). The database and the webhook receiver are in this process, so their time is not counted. Calls do not
use TLS. "Bare boto3" imports boto3 with everything that pip installs for it, creates a DynamoDB client and reads one
item. All have bytecode. The starts of a round follow one another, and each is divided by the bare boto3 of its round.
The figures are medians over all rounds. The noise is the middle half of the ratios.

The time is the CPU time of the process, because other programs use this machine as well. Lambda's init phase gets a
full processor. The first call gets a share of it that depends on the memory of the function, so the table has both
parts. A login includes scrypt, about 45 ms.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import boto3

from adapters.dynamodb import DynamoDBStore
from local import build
from local.emulated_dynamodb import EmulatedDynamoDB, emulated_dynamodb
from local.emulated_dynamodb.values import DynamoDBError
from local.gateway import Request, Response
from local.programs import ROOT
from local.receiver import receiving
from local.sam_local import samples
from local.server import Server
from local.tables import make_tables
from local.template import PSEUDO_PARAMETERS, Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PACKAGES = ("boto3", "botocore", "dateutil", "jmespath", "s3transfer", "urllib3", "six.py")
"""boto3 and everything that it needs, as pip installs it."""

BARE = "bare boto3"
BARE_FUNCTION = """
import boto3
client = boto3.client("dynamodb")
def handler(event, context):
    return client.get_item(TableName="AppsTable", Key={"id": {"S": event["id"]}})["Item"]["id"]["S"]
"""

START = """
import json, sys, time
def now():
    return time.process_time() * 1000
import awslambdaric.bootstrap
sys.path.insert(0, ".")
module, _, name = sys.argv[1].rpartition(".")
handler = getattr(__import__(module, fromlist=[name]), name)
started = now()
with open(sys.argv[2], encoding="utf-8") as file:
    event = json.load(file)
result = handler(event, None)
responded = now()
with open("/proc/self/status", encoding="ascii") as status:
    peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
print()
print(json.dumps({"started": started, "responded": responded, "peak": peak, "result": result}))
"""

CALLS = {
    "web_connector": ("login", "send"),
    "create_queued_request": ("create",),
    "list_queued_requests": ("list",),
    "deliver_webhook": ("webhook",),
    "authorizer": ("authorizer",),
}
"""The functions of the table, and the names of their first calls."""

SEND = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<sendRequestXML xmlns="http://developer.intuit.com/"><ticket>{ticket}</ticket><strHCPResponse>{company}'
    "</strHCPResponse><strCompanyFileName>C:\\acme.qbw</strCompanyFileName><qbXMLCountry>US</qbXMLCountry>"
    "<qbXMLMajorVers>13</qbXMLMajorVers><qbXMLMinorVers>0</qbXMLMinorVers></sendRequestXML></soap:Body></soap:Envelope>"
)


@dataclass(frozen=True, slots=True)
class Start:
    """CPU milliseconds of a process up to the end of the imports and up to the first response, and peak memory."""

    started: float
    responded: float
    peak: float
    result: Any


class Bench:
    """Starts functions, each on a new database with the sample records.

    `runtime` has Lambda's runtime client. `folder` is for a file.
    """

    def __init__(self, folder: Path, runtime: Path) -> None:
        self._runtime = runtime
        self._event = folder / "event.json"
        self._database = EmulatedDynamoDB()
        self._functions = {
            function.handler.split(".")[1]: function
            for function in Template.load(parameters={"AllowLoopbackWebhooks": "true"}).functions()
        }
        self.endpoint = self.webhook_url = ""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve the database and receive webhooks while the block runs."""
        server = Server(0)
        server.start(self._serve)
        try:
            with receiving(samples.WEBHOOK_SECRET, lambda _: None) as self.webhook_url:
                self.endpoint = server.base_url
                yield
        finally:
            server.stop()

    def start(self, name: str, call: str, artifact: Path) -> Start:
        """Start a function of an artifact with the first call `call`."""
        with emulated_dynamodb() as self._database:
            client = boto3.client("dynamodb", region_name=_REGION, **_CREDENTIALS)
            samples.write(DynamoDBStore(client, make_tables(client, "")), name, webhook_url=self.webhook_url)
            if call == BARE:
                return self._start(artifact, "bare.handler", {}, {"id": samples.APP_ID})
            function = self._functions[name]
            event = json.loads((ROOT / "events" / f"{name}.json").read_text(encoding="utf-8"))
            environment = {key: str(value) for key, value in function.environment.items()}
            if call == "send":
                login = self._start(artifact, function.handler, environment, event)
                event["body"] = _send(login.result["body"])
            return self._start(artifact, function.handler, environment, event)

    def _start(self, folder: Path, handler: str, variables: Mapping[str, str], event: Any) -> Start:
        self._event.write_text(json.dumps(event), encoding="utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(self._runtime),
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_DEFAULT_REGION": _REGION,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            **variables,
            "AWS_ENDPOINT_URL": self.endpoint,
        }
        command = [sys.executable, "-B", "-S", "-c", START, handler, str(self._event)]
        process = subprocess.run(  # noqa: S603 - this Python, with our own arguments
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if process.returncode:
            raise RuntimeError(f"{handler}: {process.stdout}{process.stderr}")
        start = Start(**json.loads(process.stdout.splitlines()[-1]))
        if isinstance(start.result, dict) and start.result.get("statusCode", 200) >= 300:
            raise RuntimeError(f"{handler}: {start.result}{process.stdout}")
        return start

    def _serve(self, request: Request) -> Response:
        operation = (request.header("X-Amz-Target") or "").rpartition(".")[2]
        status = 200
        try:
            response = self._database.call(operation, json.loads(request.body, object_hook=_bytes))
        except DynamoDBError as error:
            status = 400
            response = {"__type": f"com.amazonaws.dynamodb.v20120810#{error.code}", "message": str(error)}
        body = json.dumps(response, default=lambda value: base64.b64encode(bytes(value)).decode()).encode()
        return Response(status, [("Content-Type", "application/x-amz-json-1.0")], body)


def _bytes(value: dict[str, Any]) -> dict[str, Any]:
    """Decode an attribute value of type B."""
    return {"B": base64.b64decode(value["B"])} if value.keys() == {"B"} and isinstance(value["B"], str) else value


def _send(login: str) -> str:
    """Return a sendRequestXML with the ticket of a response to authenticate."""
    ticket = login.partition("<string>")[2].partition("</string>")[0]
    return SEND.format(ticket=ticket, company="")


def bare_boto3(packages: Path, folder: Path) -> None:
    """Put boto3 with everything that it installs, and the function that uses it, into `folder`."""
    for name in PACKAGES:
        source = packages / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
    (folder / "bare.py").write_text(BARE_FUNCTION, encoding="utf-8")
    build.compile_code(folder, build.HERE.runtime)


Subject = tuple[str, str, Path]
"""The name of a function, its first call, and the folder of its code."""


def measured(bench: Bench, subjects: Sequence[Subject], rounds: int) -> dict[Subject, list[Start]]:
    """Return the starts of each subject, one for each round."""
    starts: dict[Subject, list[Start]] = {subject: [] for subject in subjects}
    for _ in range(rounds):
        for subject in subjects:
            starts[subject].append(bench.start(*subject))
    return starts


def show(title: str, starts: Sequence[Start], bare: Sequence[Start]) -> None:
    """Print a line of the table."""
    init, total, peak = (median(getattr(start, part) for start in starts) for part in ("started", "responded", "peak"))
    ratios = [start.responded / other.responded for start, other in zip(starts, bare, strict=True)]
    low, _, high = quantiles(ratios)
    print(
        f"{title:36}{init:7.0f}{total - init:7.0f}{total:7.0f}{median(ratios):9.2f}  {low:.2f} to {high:.2f}{peak:7.0f}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    options = _parser().parse_args(arguments)
    calls = [(name, call) for name, names in CALLS.items() for call in names]
    if options.all:
        others = [function.handler.split(".")[1] for function in Template.load().functions()]
        calls += [(name, name) for name in others if name not in CALLS]
    output = ROOT / ".local" / "cold_starts" / "artifact"
    build.build(build.HERE, output)
    (packages,) = (output.parent / "packages").iterdir()
    (runtime,) = ROOT.glob(".tools/runtime/lib/python*/site-packages")
    with tempfile.TemporaryDirectory() as folder:
        bare = ("authorizer", BARE, Path(folder) / "bare")
        bare[2].mkdir()
        bare_boto3(packages, bare[2])
        artifacts = {"": output / build.CODE} | ({", before": options.before.resolve()} if options.before else {})
        subjects = {f"{call}{title}": (name, call, path) for name, call in calls for title, path in artifacts.items()}
        bench = Bench(Path(folder), runtime)
        with bench.running():
            starts = measured(bench, [bare, *subjects.values()], options.rounds)
    print(f"{'CPU ms':36}{'init':>7}{'call':>7}{'sum':>7}   / bare  noise         MB")
    show(BARE, starts[bare], starts[bare])
    for title, subject in subjects.items():
        show(title, starts[subject], starts[bare])
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold_starts", description=__doc__)
    parser.add_argument("--rounds", type=_rounds, default=21, help="at least 2; default: %(default)s")
    parser.add_argument("--before", type=Path, help="the code folder of another artifact")
    parser.add_argument("--all", action="store_true", help="measure every function")
    return parser


def _rounds(text: str) -> int:
    if int(text) < 2:
        raise ValueError(text)
    return int(text)


_REGION = PSEUDO_PARAMETERS["AWS::Region"]
_CREDENTIALS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}

if __name__ == "__main__":
    sys.exit(main())
