"""The requests of a document of a Web Connector service keep what it says about them."""

from __future__ import annotations

import pytest
from queue_envelope import single_requests

from domain import qbxml
from tests.examples.guide import ROOT

DOCUMENT = (ROOT / "examples" / "from_web_connector" / "document.xml").read_text(encoding="utf-8")
DECLARATION = '<?qbxml version="13.0"?>'


@pytest.mark.parametrize("version", ["2.0", "13.0", "16.0"])
def test_each_request_has_the_version_of_the_document(version: str) -> None:
    documents = list(single_requests(DOCUMENT.replace(DECLARATION, f"<?qbxml version='{version}'?>")))

    requests = [qbxml.parse_request_xml(document, default_version="7.0", validate=False) for document in documents]
    assert [(request.name, request.version) for request in requests] == [
        ("CustomerAddRq", version),
        ("InvoiceAddRq", version),
    ]


def test_a_document_without_a_version_gets_the_default_of_the_service() -> None:
    for document in single_requests(DOCUMENT.replace(DECLARATION, "<?another instruction?>")):
        assert qbxml.parse_request_xml(document, default_version="7.0", validate=False).version == "7.0"
