"""Queue the requests of a QBXML document that a Web Connector service would have returned from sendRequestXML.

Usage:
    python3 queue_envelope.py NAME < document.xml

Such a document may hold several requests; the service queues each one by itself, in the same order. NAME identifies
the document: queueing it twice within 24 hours queues nothing new.
"""

from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "first_sync"))

from qbxml_queue import Api, run


def single_requests(document: str) -> Iterator[str]:
    """Yield a document with one request for each request of `document`, with its declaration of the qbXML version.

    The ids of message sets are removed: the service sets them, because it uses them to recover lost responses.
    """
    messages = ET.fromstring(document).find("QBXMLMsgsRq")
    if messages is None:
        raise ValueError("the document has no QBXMLMsgsRq")
    declaration = re.search(r"<\?qbxml\s[^<>]*\?>", document)
    version = declaration[0] if declaration else ""
    attributes = {"onError": messages.get("onError", "stopOnError")}
    for request in messages:
        root = ET.Element("QBXML")
        ET.SubElement(root, "QBXMLMsgsRq", attributes).append(request)
        request.tail = None
        yield f'<?xml version="1.0"?>{version}' + ET.tostring(root, encoding="unicode")


def main() -> None:
    parser = argparse.ArgumentParser(description="Queue the requests of a QBXML document.")
    parser.add_argument("name", help="identifies the document")
    name = parser.parse_args().name
    api = Api.from_environment()
    try:
        requests = list(single_requests(sys.stdin.read()))
    except (ET.ParseError, ValueError) as error:
        sys.exit(f"The standard input is not a QBXML document: {error}. Usage: python3 queue_envelope.py NAME < FILE")
    for number, request_xml in enumerate(requests, start=1):
        path = f"{api.connection}/queued_requests"
        record = api.call("POST", path, {"request_xml": request_xml}, f"{name}-{number}")["data"]
        print(record["request_name"], record["state"])


if __name__ == "__main__":
    run(main)
