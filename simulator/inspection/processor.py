"""The request processor over HTTP: answers QBXML for programs that do without a Web Connector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simulator.inspection.inspector import BadParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.company import Company, CompanySession

MAX_BODY_BYTES = 10_000_000
DEFAULT_APPLICATION = "Request processor"
MAX_APPLICATION_LENGTH = 100
MAX_APPLICATIONS = 20
_PARAMETERS = {"application", "company"}


@dataclass(slots=True)
class RequestProcessor:
    """Answers message sets in one lasting session for each application, so iterators go on from call to call."""

    company: Company
    _sessions: dict[str, CompanySession] = field(default_factory=dict)

    def process(self, body: bytes, parameters: Mapping[str, str]) -> str:
        """Return the response to a QBXML document.

        The parameter `application` names the program, whose stored responses and iterators are its own. `company` is
        the path of the company file, as in BeginSession; without it the open file answers.
        Raises `HresultError` as QuickBooks' request processor does, and `BadParameterError`.
        """
        unknown = sorted(set(parameters) - _PARAMETERS)
        if unknown:
            raise BadParameterError(f"{unknown[0][:50]} is not a parameter. Use application and company.")
        application = parameters.get("application") or DEFAULT_APPLICATION
        if len(application) > MAX_APPLICATION_LENGTH:
            raise BadParameterError(f"application can have {MAX_APPLICATION_LENGTH} characters at most.")
        try:
            text = body.decode()
        except UnicodeDecodeError as error:
            raise BadParameterError("The body must be a QBXML document in UTF-8.") from error
        session = self.company.begin_session(application, parameters.get("company", ""))
        with self.company.lock:
            if application not in self._sessions and len(self._sessions) >= MAX_APPLICATIONS:
                raise BadParameterError(f"There are {MAX_APPLICATIONS} applications already. Use one of their names.")
            session = self._sessions.setdefault(application, session)
        return session.process_request(text)
