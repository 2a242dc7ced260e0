"""Webhooks: tell an app that its request has ended (docs/webhooks.md).

`event` builds the body, and `signature` signs it. `addresses` decides which receivers are allowed. `delivery` makes one
attempt, and `schedule` plans the next one. `defaults` defines every number.
"""
