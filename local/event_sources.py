"""Let the event sources of a deployed stack read the streams that its tables have now. `make event-sources`.

A table that was deleted and restored under its former name has another stream. Its event sources still name the former
stream, which gets no changes, and Lambda cannot give an event source another stream. This program creates each of them
again, with the settings of the former one, and deletes the former one afterwards. It enables an event source that is
disabled. It changes nothing else, and can be run again at any time, also if it was interrupted.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from local import aws, deploy
from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Clients = Callable[[str], Any]

OF_THE_SOURCE = {"EventSourceArn", "FunctionName"}
"""What `CreateEventSourceMapping` takes besides settings."""

DISABLED = {"Disabled", "Disabling"}
GONE = {"Deleting"}
"""AWS: states of an event source."""


@dataclass(frozen=True, slots=True)
class Consumer:
    """A function and the table whose stream it reads, by their logical ids."""

    function: str
    table: str

    def __str__(self) -> str:
        """Return how messages name the consumer."""
        return f"{self.function} of {self.table}"


def consumers(template: Template) -> Sequence[Consumer]:
    """Return the consumers of all streams of the template."""
    return [
        Consumer(function.logical_id, event.properties["Stream"].removesuffix(".StreamArn"))
        for function in template.functions()
        for event in function.events
        if event.type == "DynamoDB"
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Renew the event sources of a stack and print what was done; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        clients = aws.resolved(options.region, options.profile).client
        deploy.outputs(clients("cloudformation"), options.stack)  # says which stack or region is wrong
        for line in renew(clients, names_of(clients("cloudformation"), options.stack)):
            print(line, flush=True)
    except (aws.AwsError, deploy.DeployError) as error:
        print(f"make event-sources: {error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"make event-sources: {aws.explanation(error)}", file=sys.stderr)
        return 1
    print("Run make smoke in a minute. It checks that each event source is enabled.")
    return 0


def names_of(cloudformation: Any, stack: str) -> dict[str, str]:
    """Return the names in AWS of the resources of a stack, by logical ID."""
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack)
    resources = [resource for page in pages for resource in page["StackResourceSummaries"]]
    return {resource["LogicalResourceId"]: resource["PhysicalResourceId"] for resource in resources}


def renew(clients: Clients, names: Mapping[str, str]) -> Iterator[str]:
    """Let each consumer read the present stream of its table. Yield what was done. Raises DeployError.

    All tables are looked at before anything is changed.
    """
    template, functions = Template.load(ROOT / "template.yaml"), clients("lambda")
    found = [(consumer, *_sources(clients, names, consumer, template)) for consumer in consumers(template)]
    for consumer, stream, sources in found:
        present = [source for source in sources if source["EventSourceArn"] == stream]
        former = [source for source in sources if source not in present]
        done = []
        if not present:
            settings = settings_of(functions, former[0])
            functions.create_event_source_mapping(
                EventSourceArn=stream, FunctionName=names[consumer.function], **settings
            )
            done.append(f"created for {stream}")
        elif present[0]["State"] in DISABLED:
            functions.update_event_source_mapping(UUID=present[0]["UUID"], Enabled=True)
            done.append("enabled")
        for source in former:
            functions.delete_event_source_mapping(UUID=source["UUID"])
            done.append(f"deleted for the former stream {source['EventSourceArn']}")
        yield f"{consumer}: {', '.join(done) or 'reads the present stream'}"


def settings_of(functions: Any, source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with which an event source is created again: filters, batches, retries, destination."""
    members = functions.meta.service_model.operation_model("CreateEventSourceMapping").input_shape.members
    settings = members.keys() - OF_THE_SOURCE
    return {name: value for name, value in source.items() if name in settings and value not in (None, "", [], {})}


def problems(clients: Clients, names: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with each event source: of streams, and of the queue of planned webhook attempts."""
    template = Template.load(ROOT / "template.yaml")
    for consumer in consumers(template):
        try:
            stream, sources = _sources(clients, names, consumer, template)
        except deploy.DeployError as error:
            yield str(error)
            continue
        if all(source["EventSourceArn"] != stream for source in sources):
            yield f"{consumer} reads a former stream. Run make event-sources"
        yield from (
            f"{consumer} is {source['State']}. Run make event-sources"
            for source in sources
            if source["EventSourceArn"] == stream and source["State"] != "Enabled"
        )
    for function, queue in _queues(template):
        states = [source["State"] for source in sources_of(clients("lambda"), names[function])]
        if states != ["Enabled"]:
            yield f"{function} of {queue} is {' and '.join(states) or 'missing'}. Enable its event source in Lambda"


def sources_of(functions: Any, function: str) -> Sequence[Mapping[str, Any]]:
    """Return the event sources of a function, without those that are being deleted."""
    pages = functions.get_paginator("list_event_source_mappings").paginate(FunctionName=function)
    return [source for page in pages for source in page["EventSourceMappings"] if source["State"] not in GONE]


def _queues(template: Template) -> Iterator[tuple[str, str]]:
    for function in template.functions():
        for event in function.events:
            if event.type == "SQS":
                yield function.logical_id, event.properties["Queue"].removesuffix(".Arn")


def _sources(
    clients: Clients, names: Mapping[str, str], consumer: Consumer, template: Template
) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return the present stream of a consumer's table, and the event sources that read a stream of it.

    Raises DeployError if the table has no stream as in the template, or there is no event source.
    """
    name = names[consumer.table]
    table = clients("dynamodb").describe_table(TableName=name)["Table"]
    view_type = template.resources("AWS::DynamoDB::Table")[consumer.table]["StreamSpecification"]["StreamViewType"]
    stream = table.get("StreamSpecification", {})
    if not stream.get("StreamEnabled") or stream.get("StreamViewType") != view_type:
        raise deploy.DeployError(
            f"{name} has no stream of the view type {view_type}. Turn it on: aws dynamodb update-table --table-name "
            f"{name} --stream-specification StreamEnabled=true,StreamViewType={view_type}"
        )
    streams = f"{table['TableArn']}/stream/"
    sources = sources_of(clients("lambda"), names[consumer.function])
    sources = [source for source in sources if source["EventSourceArn"].startswith(streams)]
    if not sources:
        raise deploy.DeployError(
            f"{consumer} has no event source whose settings could be copied. Create it with the settings that "
            "template.yaml has"
        )
    return table["LatestStreamArn"], sources


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.event_sources", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stack", default=deploy.STACK_NAME, help="default: %(default)s")
    aws.add_options(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
