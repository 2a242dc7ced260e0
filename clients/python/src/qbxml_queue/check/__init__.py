"""`qbxml-queue check`: tests a deployed service, and the QuickBooks behind it, through the public API.

`plan` is the table of steps, and `run` asks them. `verdicts` and `checks` compare the answers with what was expected,
`questions` says what only a real file can answer. `terminal` and `page` report. docs/first-contact.md is the guide.
"""
