"""Counts the DynamoDB units that a client uses."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from local.capacity import Capacity, read_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.capacity import Item, Target


class CountedUnits:
    """The units that a client uses from now on."""

    def __init__(self, client: Any, definitions: Mapping[str, Mapping[str, Any]]) -> None:
        self.reads = self.writes = 0.0
        self._client = self.client = client
        self._capacity = Capacity(definitions)
        self._own = threading.local()
        self._lock = threading.Lock()
        client.meta.events.register("before-parameter-build.dynamodb", self._begin)
        client.meta.events.register("after-call.dynamodb", self._end)

    def _begin(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if getattr(self._own, "reads", False):
            return
        if model.name == "Query":
            params["ReturnConsumedCapacity"] = "TOTAL"
        targets = [*self._capacity.targets(model.name, params)]
        context["counted"] = params, [(target, self._item(target)) for target in targets]

    def _end(self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if "counted" not in context:
            return
        params, before = context.pop("counted")
        units = sum(self._capacity.write_units(target, item, self._item(target)) for target, item in before)
        with self._lock:
            self.writes += units
            self.reads += read_units(model.name, params, parsed) if "Error" not in parsed else 0

    def _item(self, target: Target) -> Item | None:
        self._own.reads = True
        try:
            response = self._client.get_item(TableName=target.table, Key=json.loads(target.key), ConsistentRead=True)
        finally:
            self._own.reads = False
        item: Item | None = response.get("Item")
        return item
