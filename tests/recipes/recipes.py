"""The steps of each recipe, with an example: what they add, and how a test reports that one is missing.

A step finds its place by text that a reader of the file recognises. If that text has changed, `MissingAnchor` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.recipes.repository import Repository

CONTRACT = "docs/reference/service-contract.md"
ERRORS_TEST = "tests/unit/test_errors_page.py"
OPENAPI_TEST = "tests/integration/api/test_openapi.py"
RECIPES_TEST = "tests/infrastructure/test_recipes.py"
IMPORTS_TEST = "tests/infrastructure/test_imports.py"
DOCS_TEST = "tests/infrastructure/test_docs.py"
VIEWS_TEST = "tests/unit/handlers/test_views.py"
PERMISSIONS_TEST = "tests/integration/api/test_permissions.py"
STORED_TEST = "tests/contract/test_stored_attributes.py"
UP_TO_DATE = f"{OPENAPI_TEST}::test_the_document_is_up_to_date"


@dataclass(frozen=True)
class Step:
    """A step of a recipe.

    `file` is the file that the recipe names. `test` fails without the step, with `message` in its output. Both are
    empty for a step without which the program stops or mypy fails.
    """

    file: str
    follow: Callable[[Repository], object]
    test: str = ""
    message: str = ""


@dataclass(frozen=True)
class Recipe:
    """A recipe below a heading of CONTRIBUTING.md, with the example of `--only name`.

    `tests` are the tests that it names, or parts of them that the example can affect.
    """

    name: str
    example: str
    heading: str
    steps: tuple[Step, ...]
    tests: tuple[str, ...]

    @property
    def changes_the_template(self) -> bool:
        """Return whether a step changes `template.yaml`, which takes longer to check than the code."""
        return any(step.file == "template.yaml" for step in self.steps)


def generate(repository: Repository) -> None:
    """Run `make generate`. Raises RuntimeError with its output."""
    has_succeeded, output = repository.make("generate")
    if not has_succeeded:
        raise RuntimeError(output)


def permission_tests(function: str) -> tuple[str, ...]:
    """Return the tests of a function's permissions. An example does not affect other functions."""
    rules = (
        "is_allowed_the_calls_of_its_event",
        "has_the_names_of_exactly_the_tables_that_its_role_allows",
        "may_make_the_calls_of_a_repeated_event",
    )
    return tuple(f"{PERMISSIONS_TEST}::test_a_function_{rule}[{function}]" for rule in rules)


GENERATE = Step("make generate", generate, UP_TO_DATE, "run make generate")
TEMPLATE_DIFFERS = "template.yaml and src/handlers differ"


def function_block(logical_id: str) -> str:
    """Return the pattern of a function in the template, with the blank line above it."""
    return rf"\n\n  {logical_id}:\n.*?(?=\n\n)"


def refuse_other_methods(path: str) -> Step:
    """Return the step that lets a function respond to the methods that a new path does not have."""
    name = "".join(word.title() for word in path.replace("/", "_").replace("{", "").replace("}", "").split("_"))
    event = f"""        {name}:
          Type: Api
          Properties: {{RestApiId: !Ref Api, Method: any, Path: "/api/v1/{path}"}}
"""
    before = "      Handler: handlers.method_not_allowed.handler\n      Role: !GetAtt PageRole.Arn\n      Events:\n"
    return Step(
        "template.yaml",
        lambda repository: repository.insert_after("template.yaml", before, event),
        f"{RECIPES_TEST}::test_every_path_of_the_api_has_a_response_to_methods_that_it_does_not_have",
        f"give MethodNotAllowedFunction an event of each path, and correct ['/api/v1/{path}']",
    )


# --- Add a convenience query


def add_bills(repository: Repository) -> None:
    """Add the query for bills, with a filter by vendor."""
    tables = "src/domain/queries/tables.py"
    parameter = """\
_VENDOR = Parameter("vendor_list_id", LIST_ID, "EntityFilter/ListID", "Transactions of the vendor with this ListID.")
"""
    query = """\
        Query("bills", "BillQueryRq", (*_TRANSACTION_PARAMETERS, _VENDOR, _STATUS, _max_returned()), "BillRet"),
"""
    repository.insert_before(tables, "^_STATUS = ", parameter)
    repository.insert_after(tables, r"^QUERIES: .*\n.*\n *for query in \(\n", query)


def document_bills(repository: Repository) -> None:
    """Document the query and its parameter in the contract."""
    repository.insert_after(
        CONTRACT,
        r"^\| `max_returned` \|.*\n\n",
        "`bills` takes the parameters of `invoices`, with `vendor_list_id`.\n\n",
    )


CONVENIENCE_QUERY = Recipe(
    "query",
    "GET /bills",
    "Add a convenience query (`GET /bills`)",
    (
        Step(
            "src/domain/queries/tables.py",
            add_bills,
            f"{RECIPES_TEST}::test_every_handler_of_a_query_has_its_query",
            "add the query to QUERIES in src/domain/queries/tables.py: ['bills']",
        ),
        Step(
            "src/handlers/query_<name>.py",
            lambda repository: repository.copy(
                "src/handlers/query_vendors.py", "src/handlers/query_bills.py", ("vendors", "bills")
            ),
            f"{RECIPES_TEST}::test_every_convenience_query_has_its_files",
            "add src/handlers/query_bills.py",
        ),
        Step(
            "template.yaml",
            lambda repository: repository.copy_block(
                "template.yaml", function_block("QueryVendorsFunction"), ("Vendors", "Bills"), ("vendors", "bills")
            ),
            f"{IMPORTS_TEST}::test_every_module_with_a_handler_is_a_function_of_the_template",
            f"{TEMPLATE_DIFFERS}: ['query_bills']",
        ),
        refuse_other_methods("connections/{connection_id}/bills"),
        Step(
            CONTRACT,
            document_bills,
            f"{RECIPES_TEST}::test_every_convenience_query_and_its_parameters_are_in_the_contract",
            "add the query to the contract",
        ),
        Step(
            "README.md",
            lambda repository: repository.insert_after("README.md", "`…/vendors`", ", `…/bills`"),
            f"{DOCS_TEST}::test_every_endpoint_is_in_the_readme",
            "the table of calls in README.md",
        ),
        GENERATE,
    ),
    (
        *("tests/unit/queries", RECIPES_TEST, IMPORTS_TEST, DOCS_TEST, OPENAPI_TEST),
        *("tests/integration/api/test_events.py", *permission_tests("query_bills")),
    ),
)


# --- Add an endpoint

VIEW = '''"""The view of the latest failed login of a connection."""

from typing_extensions import TypedDict

from handlers.views.schema import Moment


class LoginFailureView(TypedDict):
    """A failed login of a Web Connector."""

    failed_at: Moment
'''
HANDLER = '''"""GET /connections/{connection_id}/login_failure: the latest failed login of a Web Connector."""

from handlers.rest import Call, Data, endpoint, services
from handlers.views.login_failure import LoginFailureView


@endpoint("Connections", "GET /connections/{connection_id}/login_failure")
def handler(call: Call, connection_id: str) -> Data[LoginFailureView | None]:
    """Get the latest failed login of a connection, or null."""
    failed_at = services().connections.get(call.app_id, connection_id).login_failed_at
    return {"data": {"failed_at": failed_at} if failed_at else None}
'''
EXAMPLE = """    "OptionalLoginFailureResponse": {
        "failed": {"data": {"failed_at": timestamp(_NOON)}},
        "none": {"data": None},
    },
"""
ENDPOINT = Recipe(
    "endpoint",
    "GET /login_failure, with optional data",
    "Add an endpoint of the REST API",
    (
        Step("src/handlers/views", lambda repository: repository.write("src/handlers/views/login_failure.py", VIEW)),
        Step(
            "src/handlers/<name>.py",
            lambda repository: repository.write("src/handlers/get_login_failure.py", HANDLER),
            f"{IMPORTS_TEST}::test_every_function_of_the_template_has_a_handler_and_a_sample_event",
            "add src/handlers/get_login_failure.py",
        ),
        Step(
            "events/<name>.json",
            lambda repository: repository.copy(
                "events/get_connection.json",
                "events/get_login_failure.json",
                ('{connection_id}"', '{connection_id}/login_failure"'),
                ('000000000001",\n  "httpMethod"', '000000000001/login_failure",\n  "httpMethod"'),
            ),
            f"{IMPORTS_TEST}::test_every_function_of_the_template_has_a_handler_and_a_sample_event",
            "add a sample event: events/get_login_failure.json",
        ),
        Step(
            "template.yaml",
            lambda repository: repository.copy_block(
                "template.yaml",
                function_block("GetConnectionFunction"),
                ("GetConnectionFunction", "GetLoginFailureFunction"),
                ("handlers.get_connection.", "handlers.get_login_failure."),
                ('{connection_id}"', '{connection_id}/login_failure"'),
            ),
            f"{IMPORTS_TEST}::test_every_module_with_a_handler_is_a_function_of_the_template",
            f"{TEMPLATE_DIFFERS}: ['get_login_failure']",
        ),
        refuse_other_methods("connections/{connection_id}/login_failure"),
        Step(
            "tools/openapi_examples.py",
            lambda repository: repository.insert_after("tools/openapi_examples.py", r"^EXAMPLES: .*\{\n", EXAMPLE),
            UP_TO_DATE,
            "Add an example of OptionalLoginFailureResponse to EXAMPLES in tools/openapi_examples.py",
        ),
        Step(
            "README.md",
            lambda repository: repository.insert_before(
                "README.md",
                r"^\| `POST /connections/\{connection_id\}/password`",
                "| `GET /connections/{connection_id}/login_failure` | returns the latest failed login |\n",
            ),
            f"{DOCS_TEST}::test_every_endpoint_is_in_the_readme",
            "the table of calls in README.md",
        ),
        GENERATE,
    ),
    (
        *(RECIPES_TEST, IMPORTS_TEST, DOCS_TEST, OPENAPI_TEST, "tests/infrastructure/test_sam_environment.py"),
        *("tests/integration/api/test_events.py", *permission_tests("get_login_failure")),
    ),
)


# --- Fields of the record

RECORD = "src/domain/records/request.py"
VIEWS = "src/handlers/views/requests.py"


def add_field(name: str) -> Callable[[Repository], None]:
    """Return the step that adds an optional text to the record."""
    return lambda repository: repository.insert_before(RECORD, "^    revision: int", f"    {name}: str | None = None\n")


def store_field(name: str) -> Step:
    """Return the step that lists the stored attribute of a new field."""
    return Step(
        STORED_TEST,
        lambda repository: repository.insert_before(STORED_TEST, '^    "revision",', f'    "{name}",\n'),
        STORED_TEST,
        f"['{name}'] are stored and not in ATTRIBUTES",
    )


def show_origin(repository: Repository) -> None:
    """Show the field in the view."""
    repository.insert_before(
        VIEWS, "^    links: RequestLinks", '    origin: Annotated[str | None, Schema("Its origin")]\n'
    )
    repository.insert_before(VIEWS, '^        "links": links\\(record', '        "origin": record.origin,\n')


FIELD = Recipe(
    "field",
    "a field that clients see",
    "Add a field to the record",
    (
        Step(RECORD, add_field("origin")),
        store_field("origin"),
        Step(VIEWS, show_origin, VIEWS_TEST, "add the field to src/handlers/views/requests.py, or to INTERNAL here"),
        Step(
            CONTRACT,
            lambda repository: repository.insert_before(
                CONTRACT, r"^\| `links` \| `self`", "| `origin` | the origin of the request, or null |\n"
            ),
            f"{RECIPES_TEST}::test_every_field_of_a_record_is_in_the_contract",
            "add the field to the contract",
        ),
        GENERATE,
    ),
    (VIEWS_TEST, STORED_TEST, "tests/contract/test_every_field.py", RECIPES_TEST, OPENAPI_TEST),
)

INTERNAL_FIELD = Recipe(
    "internal-field",
    "a field that clients do not see",
    "Add a field to the record",
    (
        Step(RECORD, add_field("machine")),
        store_field("machine"),
        Step(
            VIEWS_TEST,
            lambda repository: repository.insert_before(VIEWS_TEST, '^    "revision",', '    "machine",\n'),
            VIEWS_TEST,
            "add the field to src/handlers/views/requests.py, or to INTERNAL here",
        ),
    ),
    (VIEWS_TEST, STORED_TEST, "tests/contract/test_every_field.py"),
)

CODEC = "src/adapters/dynamodb/records.py"
CHANGED_FIELD = Recipe(
    "renamed-field",
    "a field with another name",
    "Change a field of the record",
    (
        # Not in src/adapters: the dictionary that compresses the records keeps the name, because it must never change.
        Step(
            RECORD,
            lambda repository: repository.rename("failed_sessions", "sessions_in_failure", "src/domain", "tests/unit"),
        ),
        Step(
            CODEC,
            lambda repository: repository.insert_after(
                CODEC,
                r"Codec\(\n    QueuedRequest,\n(.*\n)*?    renamed=\{\n",
                '        "sessions_in_failure": "failed_sessions",\n',
            ),
            STORED_TEST,
            "['failed_sessions'] are in the tables and no longer read: keep the name by `renamed` of the codec",
        ),
    ),
    (VIEWS_TEST, STORED_TEST, "tests/contract/test_every_field.py"),
)


# --- Add an index

INDEX_TEST = "tests/infrastructure/test_index_recipe.py"
MATRIX_TEST = "tests/integration/api/test_permission_matrix.py"
DATA_MODEL = "docs/data-model.md"
PORTS = "src/domain/storage/ports.py"
STORE = "src/adapters/dynamodb/store.py"
FAKE_STORE = "tests/support/fake_store.py"
CONNECTIONS_CONTRACT = "tests/contract/test_connections_and_sessions.py"
OPERATE = "src/handlers/operate.py"
OPERATE_TEST = "tests/integration/api/test_operate.py"

DECLARED_INDEX = """\
        # Sparse: only connections whose Web Connector has logged in have `last_connected_at`.
        - IndexName: by_last_connected
          KeySchema:
            - {AttributeName: app_id, KeyType: HASH}
            - {AttributeName: last_connected_at, KeyType: RANGE}
            - {AttributeName: id, KeyType: RANGE}
          Projection: {ProjectionType: INCLUDE, NonKeyAttributes: [deleted_at]}
"""
INDEX_METHOD = '''\
    def connected_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of the connections that have logged in, the latest login last. Reads the index."""
        query = key_query(self._dynamodb.tables.connections, {keys.APP_ID: app_id}, index=BY_LAST_CONNECTED)
        entries = self._dynamodb.query(query | {"FilterExpression": f"attribute_not_exists({keys.DELETED_AT})"})
        return [entry[keys.ID]["S"] for entry in entries]

'''
INDEX_PORT = '''\
    def connected_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of the connections that have logged in, the latest login last."""

'''
INDEX_IN_MEMORY = '''\
    def connected_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of the connections that have logged in, the latest login last."""
        entries = self.lag.entries("connections", "by_last_connected") if self.lag else self.connections.values()
        mine = [
            (connection.last_connected_at, connection.id)
            for connection in entries
            if connection.app_id == app_id and connection.last_connected_at and not connection.deleted_at
        ]
        return [connection_id for _, connection_id in sorted(mine)]

'''
INDEX_CONTRACT = """\
def test_an_app_has_the_connections_that_have_logged_in(store: AnyStore) -> None:
    first, second, deleted = (
        a_connection(
            id=f"c0000000-0000-4000-8000-00000000000{9 - hours}",
            last_connected_at=timestamp(NOON + timedelta(hours=hours)),
        )
        for hours in (1, 2, 3)
    )
    for connection in (second, first, deleted, a_connection()):
        store.commit(Put(None, connection))
    store.commit(Put(deleted, deleted.changed(timestamp(LATER), deleted_at=timestamp(LATER))))

    assert store.connected_ids_of(APP_ID) == [first.id, second.id]
    assert store.connected_ids_of(OTHER_APP_ID) == []


"""
INDEX_ROW = """\
| | `by_last_connected` | `app_id` | `last_connected_at`, `id` | `deleted_at` | connections that have logged in |
"""
READERS_ROW = "| `operate` (`show_app`) | count the connections that have logged in | index | 1 |\n"


def query_index(repository: Repository) -> None:
    """Name the index in the module of its table, with a method that queries it."""
    module = "src/adapters/dynamodb/connections.py"
    repository.insert_before(module, "^TO_PURGE = ", 'BY_LAST_CONNECTED = Index("by_last_connected")\n\n')
    repository.insert_before(module, r"^    def deleted_connections\(", INDEX_METHOD)


def read_index(repository: Repository) -> None:
    """Show how many connections of an app have logged in."""
    connected = '        "connected": len(services().store.connected_ids_of(app_id)),\n'
    repository.insert_after(OPERATE, r'^        "connections": len\(.*\n', connected)
    repository.insert_after(OPERATE_TEST, r'^        "connections": 1,\n', '        "connected": 0,\n')


def document_index(repository: Repository) -> None:
    """Document the index and its reader."""
    repository.insert_before(DATA_MODEL, r"^\| \| `to_purge` ", INDEX_ROW)
    repository.insert_before(DATA_MODEL, r"^\| `delete_connection` ", READERS_ROW)


INDEX = Recipe(
    "index",
    "connections by their last login",
    "Add an index",
    (
        Step(
            "template.yaml",
            lambda repository: repository.insert_before(
                "template.yaml", "^        # Sparse: only deleted connections", DECLARED_INDEX
            ),
            f"{INDEX_TEST}::test_an_index_in_code_is_declared_in_the_template",
            "template.yaml: declare the index by_last_connected",
        ),
        Step(
            "template.yaml",
            lambda repository: repository.insert_before(
                "template.yaml",
                r"^        - \{AttributeName: purge, AttributeType",
                "        - {AttributeName: last_connected_at, AttributeType: S}\n",
            ),
            f"{INDEX_TEST}::test_the_keys_of_an_index_are_attributes_of_its_table",
            "template.yaml: add {'last_connected_at'} to AttributeDefinitions of ConnectionsTable",
        ),
        Step(
            "template.yaml",
            lambda repository: repository.insert_before(
                "template.yaml",
                r"^                  # A recount of a connection",
                '                  - !Sub "${ConnectionsTable.Arn}/index/by_last_connected"\n',
            ),
            f"{INDEX_TEST}::test_a_role_allows_the_query_of_an_index",
            "template.yaml: allow dynamodb:Query on ${ConnectionsTable.Arn}/index/by_last_connected",
        ),
        Step(
            "src/adapters/dynamodb/<table>.py",
            query_index,
            f"{INDEX_TEST}::test_an_index_of_the_template_is_named_in_code",
            'src/adapters/dynamodb: name Index("by_last_connected") of ConnectionsTable',
        ),
        Step(PORTS, lambda repository: repository.insert_before(PORTS, r"^    def deleted_connections\(", INDEX_PORT)),
        Step(
            STORE,
            lambda repository: repository.insert_before(
                STORE,
                r"^        self\.deleted_connections = ",
                "        self.connected_ids_of = connections.connected_ids_of\n",
            ),
            f"{INDEX_TEST}::test_a_method_of_the_port_is_in_the_store_and_in_the_fake_store",
            "src/adapters/dynamodb/store.py: add self.connected_ids_of",
        ),
        Step(
            FAKE_STORE,
            lambda repository: repository.insert_before(FAKE_STORE, r"^    def deleted_connections\(", INDEX_IN_MEMORY),
            f"{INDEX_TEST}::test_a_method_of_the_port_is_in_the_store_and_in_the_fake_store",
            "tests/support/fake_store.py: add connected_ids_of",
        ),
        Step(
            "tests/contract",
            lambda repository: repository.insert_before(
                CONNECTIONS_CONTRACT, "^def test_a_change_of_a_session_from", INDEX_CONTRACT
            ),
            f"{INDEX_TEST}::test_a_method_of_the_port_is_in_the_contract_suite",
            "tests/contract: test connected_ids_of on every store",
        ),
        Step(
            "src/handlers/<name>.py",
            read_index,
            f"{MATRIX_TEST}::test_a_function_uses_exactly_its_grants_on_tables[operate]",
            "ConnectionsTable/index/by_last_connected",
        ),
        Step(
            DATA_MODEL,
            document_index,
            f"{INDEX_TEST}::test_an_index_is_documented_with_its_keys",
            "docs/data-model.md (Indexes): add by_last_connected of ConnectionsTable",
        ),
        Step("make generate", generate),
    ),
    (
        *(INDEX_TEST, RECIPES_TEST, CONNECTIONS_CONTRACT, "tests/contract/test_purging.py"),
        *("tests/contract/test_every_field.py", *permission_tests("operate"), OPERATE_TEST),
        f"{MATRIX_TEST}::test_a_function_uses_exactly_its_grants_on_tables[operate]",
    ),
)


# --- Add an error code

ERROR = '''class BooksClosed(ServiceError, code="books_closed"):
    """The books of this period are closed."""


'''
ERROR_CODE = Recipe(
    "error",
    "books_closed",
    "Add an error code",
    (
        Step(
            "src/domain/errors.py",
            lambda repository: repository.insert_before("src/domain/errors.py", r"^class Conflict\(", ERROR),
        ),
        Step(
            "src/handlers/rest/errors.py",
            lambda repository: repository.insert_before(
                "src/handlers/rest/errors.py", r"^    errors\.Gone: ", "    errors.BooksClosed: 409,\n"
            ),
            f"{OPENAPI_TEST}::test_every_error_has_a_status",
            "add the HTTP status to STATUSES in src/handlers/rest/errors.py: ['BooksClosed']",
        ),
        Step(
            CONTRACT,
            lambda repository: repository.insert_before(
                CONTRACT, r"^\| 410 \| `not_found`", "| 409 | `books_closed` | The books of this period are closed. |\n"
            ),
            f"{RECIPES_TEST}::test_every_error_code_is_in_the_contract",
            "add the code to the contract",
        ),
        Step(
            "tools/error_reasons.py",
            lambda repository: repository.insert_before(
                "tools/error_reasons.py",
                r"^    errors\.Gone: ",
                '    errors.BooksClosed: ("The books of this period are closed.", "Use a later date."),\n',
            ),
            f"{ERRORS_TEST}::test_every_error_of_a_call_has_a_cause_and_a_remedy",
            "add cause and remedy to REMEDIES_OF_CALLS in tools/error_reasons.py: ['BooksClosed']",
        ),
        GENERATE,
    ),
    (RECIPES_TEST, OPENAPI_TEST, ERRORS_TEST),
)

RECIPES = (CONVENIENCE_QUERY, ENDPOINT, FIELD, INTERNAL_FIELD, CHANGED_FIELD, INDEX, ERROR_CODE)
