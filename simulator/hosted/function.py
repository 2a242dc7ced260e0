"""The Lambda function of test connections.

SQS calls it with the connections to wake, and the service with operations. Two events of one connection never run at
the same time: the connection is the message group of a FIFO queue, and SQS holds the next message of a group back until
the former one is deleted. This is the lease of a session. It ends with the visibility timeout if the function dies.
"""

from __future__ import annotations

import json
import logging
import os
from functools import cache
from pathlib import Path
from typing import Any

from simulator.hosted.kept import NoCompany
from simulator.hosted.objects import FOLDER_PREFIX, Bucket, Folder, Objects
from simulator.hosted.operations import answer
from simulator.hosted.sessions import run_sessions

logger = logging.getLogger("test_connections")
logger.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"))
for library in ("botocore", "urllib3"):
    # Lambda passes on every line. At DEBUG they would log objects, which contain passwords.
    logging.getLogger(library).setLevel(logging.INFO)

RESERVE_SECONDS = 20
"""The time that remains for the request in QuickBooks and for saving, when a session is told to stop."""


def handler(event: dict[str, Any], context: Any) -> dict[str, Any] | None:
    """Run a session for each connection that the messages name, or carry out an operation."""
    objects = _objects(os.environ["TEST_CONNECTION_BUCKET"])
    if "Records" not in event:
        return answer(objects, event)
    for name in dict.fromkeys(str(json.loads(record["body"])["connection_id"]) for record in event["Records"]):
        _wake(objects, name, context)
    return None


def _wake(objects: Objects, name: str, context: Any) -> None:
    def seconds() -> float:
        return float(context.get_remaining_time_in_millis()) / 1000 - RESERVE_SECONDS

    try:
        for result in run_sessions(objects, name, seconds):
            if result is None:
                logger.info("test_connection.limit_reached", extra={"connection_id": name})
            else:
                facts = {"requests": result.requests, "status": result.status, "error": result.error}
                logger.info("test_connection.session", extra={"connection_id": name, **facts})
    except NoCompany:
        logger.info("test_connection.no_company", extra={"connection_id": name})


@cache
def _objects(bucket: str) -> Objects:
    if bucket.startswith(FOLDER_PREFIX):
        return Folder(Path(bucket.removeprefix(FOLDER_PREFIX)))
    # Only the function in AWS has botocore.
    from botocore.session import get_session  # noqa: PLC0415

    return Bucket(get_session().create_client("s3"), bucket)
