"""The Web Connector of one connection, which most tests here use."""

from __future__ import annotations

import pytest

from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds


@pytest.fixture
def qbwc() -> Connector:
    """Return the Web Connector of a connection with an empty queue."""
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect()
    return qbwc
