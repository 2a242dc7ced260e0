"""A QuickBooks Web Connector and a QuickBooks company in software: the customer's side of the service.

It needs the standard library, defusedxml and urllib3, and shares no code with the service, so it can find the
service's mistakes. In a program:

    from simulator import Company, Simulator

    simulator = Simulator(qwc_text, password, Company.generated(customers=300))
    result = simulator.run_once()              # one session: result.status, result.requests, result.error
    simulator.run(stop_event, every_seconds=2) # sessions until stop_event is set (a threading.Event)

From a terminal: `python -m simulator --help`.

* `Simulator`: one application in the Web Connector, its password and its company. It runs sessions, now or on a
  schedule.
* `WebConnector`: the protocol, one session at a time, with time, sleep and transport passed in.
* `Company`: the company file and its request processor.
* `Transport`: the Protocol between the Web Connector and HTTP.
* `Script`: faults of the line, of QuickBooks and of users, with expectations, as JSON. `script.start(…)` runs it.
"""

from __future__ import annotations

from simulator.company import Company
from simulator.runs.scheduler import Simulator
from simulator.runs.script import Script
from simulator.web_connector.connector import WebConnector
from simulator.web_connector.transport import Transport

__all__ = ["Company", "Script", "Simulator", "Transport", "WebConnector"]
