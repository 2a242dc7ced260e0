"""Webhooks: telling an app that its request has ended (contract §9).

`event` builds the body, `signature` signs it, `schedule` says when to try again, `addresses` which
receivers are allowed, `delivery` makes one attempt; every number stands in `defaults`.
"""
