"""The Lambda functions: every module with a `handler` is one.

`bootstrap` builds what they call and `settings` reads their environment. `rest/` is what the endpoints of the REST API
share; `views/` is the JSON that clients see.
"""
