"""The table of people: keys, index, items, reads and changes.

The rows of a person have the person's id as their partition, so that one query finds all that has to be deleted. An
identity and the invitations of an email address have partitions of their own, because a sign-in begins with these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from adapters.dynamodb import keys
from adapters.dynamodb.apps import APPS
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.person import Invitation, Membership, Person, PersonIdentity, SignedIn, SignIn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from adapters.dynamodb.batch_deletes import BatchDeletes
    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put, RemovePersonal, RequireMember

PERSON = "person"
ITEM = "item"

OF_APP = Index("of_app")
"""Sparse: memberships and invitations."""

_MEMBER, _SIGN_IN, _INVITED = "member~", "sign_in~", "invited~"

PEOPLE = Codec(Person, renamed={"id": PERSON})
IDENTITIES = Codec(PersonIdentity)
MEMBERSHIPS = Codec(Membership, renamed={"person_id": PERSON})
SIGN_INS = Codec(SignIn, renamed={"person_id": PERSON, "app_id": "used_app_id"})
"""The app of a sign-in has another name, because it does not belong to the index."""
INVITATIONS = Codec(Invitation)

Personal: TypeAlias = Person | PersonIdentity | Membership | SignIn | Invitation

_CODECS: Mapping[type[Personal], Codec[Any]] = {
    Person: PEOPLE,
    PersonIdentity: IDENTITIES,
    Membership: MEMBERSHIPS,
    SignIn: SIGN_INS,
    Invitation: INVITATIONS,
}


def _key(partition: str, item: str) -> Item:
    return {PERSON: {"S": partition}, ITEM: {"S": item}}


def key_of(entity: Personal) -> Item:
    """Return the key of an entity."""
    match entity:
        case Person():
            return _key(entity.id, "person")
        case PersonIdentity():
            return _key(f"identity~{entity.hash}", "identity")
        case Membership():
            return _key(entity.person_id, _MEMBER + entity.app_id)
        case SignIn():
            return _key(entity.person_id, _SIGN_IN + entity.id)
        case Invitation():
            return _key(_INVITED + entity.address, entity.app_id)


class People:
    """Reads people, and converts their changes into operations."""

    def __init__(self, dynamodb: DynamoDB, deletes: BatchDeletes) -> None:
        self._dynamodb = dynamodb
        self._deletes = deletes

    def person(self, person_id: str) -> Person | None:
        """Return a person with one read."""
        item = self._dynamodb.get(self._table, _key(person_id, "person"))
        return PEOPLE.entity(item) if item else None

    def person_of(self, identity: str) -> str | None:
        """Return the id of the person with an identity, with one read."""
        item = self._dynamodb.get(self._table, _key(f"identity~{identity}", "identity"))
        return IDENTITIES.entity(item).person_id if item else None

    def signed_in(self, person_id: str, sign_in_id: str, app_id: str | None) -> SignedIn | None:
        """Return what a credential names, with one call, or None if the person or the sign-in does not exist."""
        wanted = [_key(person_id, "person"), _key(person_id, _SIGN_IN + sign_in_id)]
        tables = {self._table: wanted + ([_key(person_id, _MEMBER + app_id)] if app_id else [])}
        if app_id:
            tables[self._dynamodb.tables.apps] = [keys.id_key(app_id)]
        found = self._dynamodb.batch_get(tables)
        items = {item[ITEM]["S"].partition("~")[0]: item for item in found[self._table]}
        if not {"person", "sign_in"} <= items.keys():
            return None
        membership = MEMBERSHIPS.entity(items["member"]) if "member" in items else None
        app = next((APPS.entity(item) for item in found.get(self._dynamodb.tables.apps, [])), None)
        return SignedIn(PEOPLE.entity(items["person"]), SIGN_INS.entity(items["sign_in"]), membership, app)

    def sign_ins_of(self, person_id: str) -> Sequence[SignIn]:
        """Return the sign-ins of a person, with one query."""
        return [SIGN_INS.entity(item) for item in self._dynamodb.query(self._of(person_id, _SIGN_IN))]

    def membership(self, person_id: str, app_id: str) -> Membership | None:
        """Return the membership of a person in an app with one read."""
        item = self._dynamodb.get(self._table, _key(person_id, _MEMBER + app_id))
        return MEMBERSHIPS.entity(item) if item else None

    def memberships_of(self, person_id: str) -> Sequence[Membership]:
        """Return the memberships of a person, with one query."""
        return [MEMBERSHIPS.entity(item) for item in self._dynamodb.query(self._of(person_id, _MEMBER))]

    def invitations_to(self, address: str) -> Sequence[Invitation]:
        """Return the invitations of an email address, with one query."""
        query = key_query(self._table, {PERSON: _INVITED + address}, consistent=True)
        return [INVITATIONS.entity(item) for item in self._dynamodb.query(query)]

    def members_of(self, app_id: str) -> tuple[Sequence[Membership], Sequence[Invitation]]:
        """Return the memberships in an app and the invitations to it. Reads the index."""
        found = list(self._dynamodb.query(key_query(self._table, {keys.APP_ID: app_id}, index=OF_APP)))
        invited = [item for item in found if item[PERSON]["S"].startswith(_INVITED)]
        members = [item for item in found if item[ITEM]["S"].startswith(_MEMBER)]
        return [MEMBERSHIPS.entity(item) for item in members], [INVITATIONS.entity(item) for item in invited]

    def remove_members(self, app_id: str) -> None:
        """Delete the memberships in an app and the invitations to it. Reads the index."""
        query = key_query(self._table, {keys.APP_ID: app_id}, index=OF_APP, attributes=(PERSON, ITEM))
        self._deletes.delete(self._table, self._dynamodb.query(query))

    def people(self, person_ids: Collection[str]) -> Sequence[Person]:
        """Return the people who exist, with one call for each 100."""
        return self._dynamodb.entities(self._table, PEOPLE, [_key(one, "person") for one in sorted(set(person_ids))])

    def put(self, change: Put[Any]) -> list[Operation]:
        """Return the operation that stores an entity."""
        return [put_entity(self._table, _CODECS[type(change.after)], change, key_of(change.after), key=PERSON)]

    def remove(self, change: RemovePersonal) -> list[Operation]:
        """Return the operation that removes an entity."""
        return [self._unchanged("Delete", change)]

    def require(self, change: RequireMember) -> list[Operation]:
        """Return the operation that requires a membership."""
        return [self._unchanged("ConditionCheck", change)]

    def _unchanged(self, kind: str, change: RemovePersonal | RequireMember) -> Operation:
        """Return an operation on an entity that is as it was read."""
        entry: dict[str, Any] = {
            "TableName": self._table,
            "Key": key_of(change.before),
            "ConditionExpression": f"{keys.REVISION} = :before",
            "ExpressionAttributeValues": {":before": {"N": str(change.before.revision)}},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        return Operation({kind: entry}, change, _CODECS[type(change.before)].entity)

    @property
    def _table(self) -> str:
        return self._dynamodb.tables.people

    def _of(self, person_id: str, prefix: str) -> Mapping[str, Any]:
        query = key_query(self._table, {PERSON: person_id}, consistent=True)
        query["KeyConditionExpression"] += f" AND begins_with(#{ITEM}, :{ITEM})"
        query["ExpressionAttributeNames"][f"#{ITEM}"] = ITEM
        query["ExpressionAttributeValues"][f":{ITEM}"] = {"S": prefix}
        return query
