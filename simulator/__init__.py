"""A QuickBooks Web Connector and a QuickBooks company in software: the customer's side of the service.

It needs the standard library, defusedxml and urllib3, and shares no code with the service, so it can find the
service's mistakes. In a program:

    from simulator import Company, Simulator

    simulator = Simulator(qwc_text, password, Company.generated(customers=300))
    result = simulator.run_once()              # one session: result.status, result.requests, result.error
    simulator.run(stop_event, every_seconds=2) # sessions until stop_event is set (a threading.Event)

From a terminal: `python -m simulator --help`.

* `Simulator`: one application in the Web Connector, its password and its company. It runs sessions, now or on a
  schedule, and returns each as a `SessionResult`. A `.qwc` that the Web Connector refuses is a `QbwcError`.
* `WebConnector`: the protocol, one session at a time, with time, sleep and transport passed in.
* `Company`: the company file and its request processor, of a `Product`. `Company.process_request` returns text or
  raises `HresultError`. `CompanySession`, `Snapshot`, `Execution` and `RequestEvent` are what it gives out.
* `Transport`: the Protocol between the Web Connector and HTTP. It raises `TransportError`.
* `Script`: faults of the line, of QuickBooks and of users, with expectations, as JSON. `script.start(…)` runs it.
  `Fault` is one of them.
* `Person`: edits a company at random, from a seed. Each `Edit` says what it did.
* `set_up`: brings a company into a situation, such as partial receipts.
* `SimulatorError`: the base of the exceptions that the simulator raises on purpose.

These names stay where they are. Modules below `simulator` can move.
"""

from __future__ import annotations

from simulator.basics.errors import HresultError, QbwcError, SimulatorError, TransportError
from simulator.company import Company, CompanySession, Execution, Snapshot
from simulator.faults import Fault
from simulator.person import Edit, Person
from simulator.requests.events import RequestEvent
from simulator.requests.facts import Product
from simulator.runs.scheduler import Simulator
from simulator.runs.script import Script
from simulator.situations import set_up
from simulator.web_connector.connector import SessionResult, WebConnector
from simulator.web_connector.transport import Transport

__all__ = [
    "Company",
    "CompanySession",
    "Edit",
    "Execution",
    "Fault",
    "HresultError",
    "Person",
    "Product",
    "QbwcError",
    "RequestEvent",
    "Script",
    "SessionResult",
    "Simulator",
    "SimulatorError",
    "Snapshot",
    "Transport",
    "TransportError",
    "WebConnector",
    "set_up",
]
