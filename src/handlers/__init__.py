"""The Lambda functions: every module with a `handler` is one.

`bootstrap` builds the services that they call, and `settings` reads their environment. `rest/` contains the code that
the endpoints of the REST API share. `views/` defines the JSON that clients see.
"""

from handlers.common import init_phase

init_phase.begin()
