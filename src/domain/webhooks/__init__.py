"""Webhooks: tell an app that its request has ended (docs/webhooks.md).

`event` builds the body, `signature` signs it, `addresses` decides which receivers are allowed, `delivery` makes one
attempt, `schedule` plans the next one. `defaults` has every number.
"""
