"""The view of the simulator of a test connection."""

from __future__ import annotations

from typing import Annotated, Any

from typing_extensions import TypedDict

from handlers.views.schema import Schema


class SimulatorView(TypedDict):
    """The simulated QuickBooks of a test connection."""

    company: Annotated[str, Schema("The company with which it began: `wholesale` or `empty`")]
    today: Annotated[str, Schema("The day in the company, `YYYY-MM-DD`")]
    days_ahead: Annotated[int, Schema("How many days later than now it is in the company")]
    faults: Annotated[list[str], Schema("The faults that are set")]
    faults_happened: Annotated[list[str], Schema("The faults that have happened, once for each time")]
    problems: Annotated[list[str], Schema("The expectations that are not met")]
    bytes: Annotated[int, Schema("The size of the stored company, compressed")]
    max_bytes: Annotated[int, Schema("A larger company runs no sessions until it is reset")]
    seconds_today: Annotated[float, Schema("How long sessions have run today (UTC)")]
    max_seconds_a_day: Annotated[int, Schema("After so many seconds, sessions begin again the next day")]


class BooksView(TypedDict):
    """What the books show. Records have the names of QBXML."""

    path: Annotated[str, Schema("The path that was asked for")]
    shown: Annotated[dict[str, Any], Schema("The answer of the inspection API (simulator/README.md)")]
