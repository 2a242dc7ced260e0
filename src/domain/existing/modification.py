"""`if_exists: update`: the Mod that makes an object of the books as an addition describes it.

| a field of the addition | what happens |
|---|---|
| `Name` and `ParentRef` | they are the identity, and stay as they are |
| QuickBooks returns it, and a Mod can have it | it is compared, and is in the Mod if it differs |
| QuickBooks does not return it as it was sent | it is not compared, and never in the Mod |
| a Mod cannot have it | it is not compared, and never in the Mod |
| it can occur several times, or has parts that can | the same, because QuickBooks adds to some of these lists |

Fields that the addition does not name are not in the Mod, so they stay. The parts of a field are sent together, because
QuickBooks may clear the parts that are left out. Those that the addition does not name are sent as they were read.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element, SubElement

from domain import qbxml
from domain.errors import InvalidRequest
from domain.existing.queries import Write
from domain.existing.values import is_same_reference, is_same_value
from domain.qbxml.request.document import DEFAULT_ON_ERROR
from domain.qbxml.schema.content_models import elements_of, repeats, request_model, version_number
from domain.qbxml.schema.facts import particles_of, return_elements
from domain.records.lookup import FieldChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.qbxml.schema.content_models import ContentModel, ElementRule

_IDENTITY = frozenset({"Name", "ParentRef"})
_RETURNED_OTHERWISE = frozenset({"CreditCardInfo"})
"""QuickBooks masks the number of a card. Sent back with other parts, the mask would replace the number."""
_KEYS = ("ListID", "EditSequence")
"""What a Mod needs of the object."""


def check_can_update(addition: qbxml.Request) -> None:
    """Raise InvalidRequest if QuickBooks cannot change the objects of a type in the version of an addition."""
    if _Fields.of(Write.of(addition)) is None:
        name = f"{addition.name.removesuffix('AddRq')}ModRq"
        message = f"cannot be update: QBXML {addition.version} has no {name} for the objects of a list. Use return"
        raise InvalidRequest.of("if_exists", message)


def modification(addition: qbxml.Request, row: Element) -> qbxml.Request | None:
    """Return the Mod for what differs between an addition and its object, which was read, or None if nothing does.

    The same addition and object have the same Mod.
    """
    write = Write.of(addition)
    fields = _Fields.of(write)
    if fields is None:
        return None
    changed = [
        fields.merged(sent, row.find(sent.tag))
        for sent in write.content
        if fields.are_compared(sent) and not _is_same(sent, row.find(sent.tag))
    ]
    if not changed:
        return None
    root = Element(f"{write.subject}ModRq")
    content = SubElement(root, f"{write.subject}Mod")
    for name in _KEYS:
        SubElement(content, name).text = row.findtext(name, "")
    content.extend(sorted(changed, key=lambda element: fields.order[element.tag]))
    return qbxml.Request(write.version, DEFAULT_ON_ERROR, root)


def field_changes(modification: qbxml.Request, row: Element) -> tuple[FieldChange, ...]:
    """Return the fields that a Mod changes of an object, which was read."""
    fields = (field for field in Write.of(modification).content if field.tag not in _KEYS)
    return tuple(change for field in fields for change in _changes(row, field, ""))


def _changes(returned: Element, new: Element, above: str) -> list[FieldChange]:
    """Return what a field of a Mod changes of the element `returned`, whose path is `above`."""
    name = new.tag.removesuffix("Mod")  # A few fields have other names in a Mod than in a response.
    path, old = f"{above}{name}", returned.find(name)
    if not len(new):
        is_same = old is not None and is_same_value(new.tag, new.text or "", old.text or "")
        return [] if is_same else [FieldChange(path, None if old is None else old.text or "", new.text or "")]
    former = Element(name) if old is None else old
    found = [change for part in new for change in _changes(former, part, f"{path}/")]
    if not name.endswith("Ref"):
        sent = {part.tag.removesuffix("Mod") for part in new}
        left_out = [part for part in former if part.tag not in sent and part.text]
        found += [FieldChange(f"{path}/{part.tag}", part.text or "", "") for part in left_out]
    return found


def keys_of(modification: qbxml.Request) -> tuple[str, ...]:
    """Return the `ListID` and the `EditSequence` in a Mod."""
    content = Write.of(modification).content
    return tuple(content.findtext(name, "") for name in _KEYS)


def is_as_read(sent: qbxml.Request, row: Element) -> bool:
    """Return whether an object is as it was read for a Mod: QuickBooks has not executed it."""
    return keys_of(sent) == tuple(row.findtext(name, "") for name in _KEYS)


def not_compared(addition: qbxml.Request) -> Sequence[str]:
    """Return the fields of an addition that are not compared with its object, in their order."""
    write = Write.of(addition)
    fields = _Fields.of(write)
    others = [sent.tag for sent in write.content if fields and not fields.are_compared(sent)]
    return [name for name in dict.fromkeys(others) if name not in _IDENTITY]


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields that a Mod of a type can have, by name, and those that QuickBooks returns in a version."""

    rules: Mapping[str, ElementRule]
    returned: frozenset[str]
    version: int

    @classmethod
    def of(cls, write: Write) -> _Fields | None:
        """Return the fields of the type of an addition, or None if its version has no Mod of it."""
        model, version = request_model(f"{write.subject}ModRq"), version_number(write.version)
        rule = model.content.rules.get(f"{write.subject}Mod") if model and model.since <= version else None
        if rule is None or rule.content is None or not all(name in rule.content.rules for name in _KEYS):
            return None
        since = return_elements(f"{write.subject}QueryRq").get(f"{write.subject}Ret", {})
        returned = frozenset(name for name, added in since.items() if version_number(added) <= version)
        return cls(rule.content.rules, returned, version)

    @property
    def order(self) -> Mapping[str, int]:
        """The places of the fields in a Mod."""
        return {name: place for place, name in enumerate(self.rules)}

    def are_compared(self, sent: Element) -> bool:
        """Whether a field is compared: it is returned as it was sent, and a Mod replaces it."""
        rule = self._rule(sent.tag)
        if rule is None or rule.since > self.version or rule.max_occurs != 1 or sent.tag in _IDENTITY:
            return False
        is_single = rule.content is None or all(_is_single(part) for part in _all_rules(rule.content))
        return is_single and sent.tag in self.returned - _RETURNED_OTHERWISE

    def merged(self, sent: Element, returned: Element | None) -> Element:
        """Return a field for a Mod. It has the parts of the addition, and otherwise those that were read."""
        rule = self._rule(sent.tag)
        if rule is None:
            raise AssertionError("only fields that a Mod can have are merged")
        return _merged(rule, sent, returned, self.version)

    def _rule(self, name: str) -> ElementRule | None:
        """Return the rule of a field in the Mod, which calls `SalesOrPurchase` `SalesOrPurchaseMod`."""
        return self.rules.get(name) or self.rules.get(f"{name}Mod")


def _merged(rule: ElementRule, sent: Element | None, returned: Element | None, version: int) -> Element:
    """Return an element with the parts of `sent`, and the parts of `returned` that go with them."""
    if sent is not None and (rule.content is None or sent.tag.endswith("Ref")):
        return deepcopy(sent)
    result = Element(rule.name)
    if rule.content is None:
        result.text = "" if returned is None else returned.text
        return result
    named = set() if sent is None else {part.tag for part in sent}
    left_out = _alternatives(rule.content.group, named)
    for name, part in rule.content.rules.items():
        new = None if sent is None else sent.find(name)
        old = None if returned is None or name in left_out or part.since > version else returned.find(name)
        if new is not None or old is not None:
            result.append(_merged(part, new, old, version))
            if rule.name.endswith("Ref"):
                break  # The id is enough. The name of the object may be another one meanwhile.
    return result


def _alternatives(particle: Any, named: set[str]) -> set[str]:
    """Return the elements that a content model does not allow beside those that are named."""
    if isinstance(particle, list):
        return set()
    parts = particles_of(particle)
    branches = [{element[0] for element in elements_of(part)} for part in parts]
    is_chosen = "choice" in particle and not repeats(particle) and any(branch & named for branch in branches)
    others = [branch for branch in branches if is_chosen and not branch & named]
    return set().union(*others, *(_alternatives(part, named) for part in parts))


def _all_rules(content: ContentModel) -> list[ElementRule]:
    """Return the rules of a content model and of all those within it."""
    rules = list(content.rules.values())
    return rules + [inner for rule in rules if rule.content for inner in _all_rules(rule.content)]


def _is_single(rule: ElementRule) -> bool:
    return rule.max_occurs == 1


def _is_same(sent: Element, returned: Element | None) -> bool:
    """Return whether a field of an addition is as it was read. QuickBooks does not return a field without a value."""
    if returned is None:
        return all(not (part.text or "").strip() for part in sent.iter())
    if sent.tag.endswith("Ref"):
        return is_same_reference(sent, returned, is_strict=True)
    if len(sent):
        return all(_is_same(part, returned.find(part.tag)) for part in sent)
    return is_same_value(sent.tag, sent.text or "", returned.text or "")
