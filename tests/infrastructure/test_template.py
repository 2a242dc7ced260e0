"""SAM can transform the template, and no function has more permissions than it needs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from domain.web_connector.session.admission import CALLS_OF_A_PACED_SESSION
from handlers.common.bootstrap import Services
from handlers.common.settings import Settings
from local.permissions import as_list
from local.template import Template, TemplateError
from tests.support.api_client import routes
from tests.support.cases import for_each
from tools.transformed_template import transformed_template

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Template.load(ROOT / "template.yaml")


def statements() -> list[tuple[str, dict[str, Any]]]:
    """Return every statement of every role, with the role's name."""
    result = []
    for name, role in TEMPLATE.resources("AWS::IAM::Role").items():
        for policy in role.get("Policies", []):
            result += [(name, statement) for statement in policy["PolicyDocument"]["Statement"]]
    return result


def of_type(transformed: Mapping[str, Any], resource_type: str) -> dict[str, dict[str, Any]]:
    """Return the resources of a type in a transformed template, by logical ID."""
    resources: dict[str, dict[str, Any]] = transformed["Resources"]
    return {name: resource for name, resource in resources.items() if resource["Type"] == resource_type}


def test_sam_transforms_the_template() -> None:
    """The transformed template has the functions of test connections, with a condition."""
    functions = Template.load(parameters={"TestConnections": "on"}).functions()
    assert len(of_type(transformed_template(), "AWS::Lambda::Function")) == len(functions)


def throttles() -> dict[tuple[str, str], dict[str, Any]]:
    """Return the settings of each method: `/` is escaped in paths, and each path begins with another `/`."""
    return {
        (setting["HttpMethod"], setting["ResourcePath"][1:].replace("~1", "/") or "/"): setting
        for setting in TEMPLATE.api()["MethodSettings"]
    }


def test_the_endpoint_that_checks_passwords_is_throttled() -> None:
    settings = throttles()["POST", "/qbwc"]

    assert 1 <= settings["ThrottlingRateLimit"] <= settings["ThrottlingBurstLimit"]


@for_each("calls", [None, 1, 77, 400, 10_000])
@for_each("concurrency", [None, 8, 300])
def test_the_rate_limit_of_web_connectors_is_twice_what_all_their_sessions_use(
    calls: int | None, concurrency: int | None
) -> None:
    given = {"WebConnectorCallsPerSecond": calls, "ConcurrencyAlarmAt": concurrency}
    template = Template.load("template.yaml", {name: str(value) for name, value in given.items() if value})
    (function,) = (function for function in template.functions() if function.logical_id == "WebConnectorFunction")
    services = Services(Settings(function.environment), client=lambda _name: None)
    methods = {setting["ResourcePath"] + setting["HttpMethod"]: setting for setting in template.api()["MethodSettings"]}
    rate = int(methods["/~1qbwcPOST"]["ThrottlingRateLimit"])

    budget = services.budget_of_sessions

    assert 2 * budget.calls_per_second <= rate
    assert budget.sessions * CALLS_OF_A_PACED_SESSION <= max(budget.calls_per_second, 1)
    assert budget.sessions <= 10 * int(function.environment["CONCURRENCY_ALARM_AT"])
    assert methods["/~1qbwcGET"]["ThrottlingRateLimit"] == methods["/~1qbwcPOST"]["ThrottlingRateLimit"]
    (stage,) = template.resources("AWS::ApiGatewayV2::Stage").values()
    assert {int(limits["ThrottlingRateLimit"]) for limits in stage["RouteSettings"].values()} == {rate}


def test_every_method_is_throttled_and_those_without_a_key_more_than_others() -> None:
    limits = {method: settings["ThrottlingRateLimit"] for method, settings in throttles().items()}
    anonymous = {(route.method, route.path) for route in routes() if route.open}
    of_web_connectors = {("GET", "/qbwc"), ("POST", "/qbwc")}

    assert limits.keys() == {("*", "*"), *anonymous}
    assert all(limits[method] < limits["*", "*"] for method in anonymous - of_web_connectors)


def test_no_role_has_wildcards() -> None:
    for name, statement in statements():
        for action in as_list(statement["Action"]):
            assert "*" not in action, f"{name}: {action}"
        for resource in as_list(statement["Resource"]):
            assert resource != "*", f"{name}: {statement['Action']}"


def test_no_role_allows_scans() -> None:
    for name, statement in statements():
        assert "dynamodb:Scan" not in as_list(statement["Action"]), name


def test_every_function_has_a_role_of_the_template() -> None:
    roles = TEMPLATE.resources("AWS::IAM::Role")
    for function in TEMPLATE.functions():
        assert str(function.properties["Role"]).removesuffix(".Arn") in roles, function.logical_id


def test_requirements_are_pinned_with_hashes_and_name_no_address() -> None:
    paths = sorted((ROOT / "requirements").glob("*.txt"))
    assert {path.stem for path in paths} == {path.stem for path in (ROOT / "requirements").glob("*.in")}

    for path in [ROOT / "src" / "requirements.txt", *paths]:
        text = path.read_text(encoding="utf-8")
        requirements = re.findall(r"(?m)^[a-z0-9].*$", text)
        assert requirements, path
        for requirement in requirements:
            assert re.fullmatch(r"[A-Za-z0-9._-]+==\S+( ; .*)? \\", requirement), (path, requirement)
        assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= len(requirements), path
        assert "://" not in text, path
        # The comment that pip-compile writes names the options that leave these lines out.
        assert not re.search(r"(?m)^--", text), path


def test_intrinsic_functions_are_resolved(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(
        "Parameters: {Stage: {Type: String, Default: test}}\n"
        "Conditions: {Live: !Equals [!Ref Stage, live], Not: !Not [{Condition: Live}]}\n"
        "Resources:\n"
        "  Queue:\n"
        "    Type: AWS::SQS::Queue\n"
        "    Properties:\n"
        "      QueueName: !Sub '${Stage}-${!Literal}-${Other.Arn}'\n"
        "      Tags: [!If [Live, live, !Ref AWS::NoValue], !Join ['-', [a, !Ref Stage]]]\n"
        "      Policy: !If [Not, yes, no]\n",
        encoding="utf-8",
    )

    properties = Template.load(path).resources("AWS::SQS::Queue")["Queue"]

    assert properties == {"QueueName": "test-${Literal}-Other.Arn", "Tags": ["a-test"], "Policy": True}


DOMAIN = {
    "DomainName": "queue.example.com",
    "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1",
    "HostedZoneId": "Z1",
}
DOMAIN_TYPES = ("AWS::ApiGateway::DomainName", "AWS::ApiGateway::BasePathMapping", "AWS::Route53::RecordSetGroup")


def template_with(parameters: dict[str, str]) -> Template:
    """Return the template with these parameters."""
    return Template.load(ROOT / "template.yaml", parameters)


def base_urls(template: Template) -> set[str]:
    return {function.environment["BASE_URL"] for function in template.functions() if "BASE_URL" in function.environment}


def test_a_domain_name_leads_to_the_api_and_is_its_base_url() -> None:
    template = template_with(DOMAIN)

    (domain,), (mapping,), (records,) = (template.resources(kind).values() for kind in DOMAIN_TYPES)

    assert domain["DomainName"] == DOMAIN["DomainName"]
    assert domain["RegionalCertificateArn"] == DOMAIN["CertificateArn"]
    assert domain["SecurityPolicy"] == "TLS_1_2"
    assert mapping == {"DomainName": "ApiDomainName", "RestApiId": "Api", "Stage": "Api.Stage"}
    assert records["HostedZoneId"] == "Z1"
    for record, kind in zip(records["RecordSets"], ("A", "AAAA"), strict=True):
        assert (record["Name"], record["Type"]) == (DOMAIN["DomainName"], kind)
        assert record["AliasTarget"] == {
            "DNSName": "ApiDomainName.RegionalDomainName",
            "HostedZoneId": "ApiDomainName.RegionalHostedZoneId",
        }
    assert base_urls(template) == {"https://queue.example.com"}
    outputs = template.resolve(template.document["Outputs"])
    assert outputs["ApiUrl"]["Value"] == "https://queue.example.com"
    assert outputs["WebConnectorUrl"]["Value"] == "https://queue.example.com/connector/qbwc"


HTTP_API = "https://WebConnectorApi.execute-api.us-east-1.amazonaws.com"
WEB_ACL = {"WebAclArn": "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/acl/1"}
PROXY = {"BaseUrl": "https://proxy.example"}


@pytest.mark.parametrize(
    ("parameters", "base_url", "app_url"),
    [
        ({}, HTTP_API, f"{HTTP_API}/qbwc"),
        (DOMAIN, "https://queue.example.com/connector", "https://queue.example.com/connector/qbwc"),
        (PROXY, "https://proxy.example", "https://proxy.example/qbwc"),
        (DOMAIN | PROXY, "https://proxy.example", "https://proxy.example/qbwc"),
        # Empty means the URL of the call, which is the REST API's.
        (WEB_ACL, "", "https://Api.execute-api.us-east-1.amazonaws.com/live/qbwc"),
        (WEB_ACL | DOMAIN, "https://queue.example.com", "https://queue.example.com/qbwc"),
        (WEB_ACL | PROXY, "https://proxy.example", "https://proxy.example/qbwc"),
        (DOMAIN | {"WebConnectorBaseUrl": "https://a.example/b"}, "https://a.example/b", "https://a.example/b/qbwc"),
    ],
)
def test_qwc_files_name_the_http_api_unless_there_is_a_web_acl_or_a_proxy(
    parameters: dict[str, str], base_url: str, app_url: str
) -> None:
    template = template_with(parameters)

    environments = [function.environment for function in template.functions()]
    assert {e["WEB_CONNECTOR_BASE_URL"] for e in environments if "WEB_CONNECTOR_BASE_URL" in e} == {base_url}
    assert template.resolve(template.document["Outputs"]["WebConnectorUrl"]["Value"]) == app_url


def test_a_deployment_with_a_web_acl_has_no_way_around_it() -> None:
    template = template_with(WEB_ACL | DOMAIN)

    created = [
        name
        for name, resource in template.document["Resources"].items()
        if resource["Type"].startswith("AWS::ApiGatewayV2::") and name in template.resources(resource["Type"])
    ]
    assert created == ["WebConnectorApiMapping"]
    # .qwc files that name the path of the HTTP API reach the REST API.
    assert connector_path(template) == ("Api", "Api.Stage")
    assert connector_path(template_with(DOMAIN)) == ("WebConnectorApi", "WebConnectorApiStage")


def connector_path(template: Template) -> tuple[str, str]:
    """Return the API and the stage to which the path /connector of the domain name leads."""
    (mapping,) = template.resources("AWS::ApiGatewayV2::ApiMapping").values()
    assert (mapping["DomainName"], mapping["ApiMappingKey"]) == ("ApiDomainName", "connector")
    return mapping["ApiId"], mapping["Stage"]


def test_the_rest_api_serves_every_route_of_the_http_api() -> None:
    rest = {
        (event.properties["Method"].upper(), event.properties["Path"]): function.logical_id
        for function in TEMPLATE.functions()
        for event in function.events
        if event.type == "Api"
    }
    integrations = TEMPLATE.resources("AWS::ApiGatewayV2::Integration")

    for route in TEMPLATE.resources("AWS::ApiGatewayV2::Route").values():
        method, path = route["RouteKey"].split(" ")
        integration = integrations[route["Target"].removeprefix("integrations/")]
        assert f"{rest[method, path.replace('/assets', '')]}.Arn" == integration["IntegrationUri"]
        assert integration["PayloadFormatVersion"] == "2.0"


def test_each_function_of_the_http_api_may_be_called_by_it() -> None:
    functions = {
        integration["IntegrationUri"].removesuffix(".Arn")
        for integration in TEMPLATE.resources("AWS::ApiGatewayV2::Integration").values()
    }
    permissions = TEMPLATE.resources("AWS::Lambda::Permission").values()

    assert {permission["FunctionName"] for permission in permissions} == functions
    for permission in permissions:
        assert permission["SourceArn"].startswith("arn:aws:execute-api:us-east-1:123456789012:WebConnectorApi/*/")


def test_the_http_api_has_the_rate_limits_of_the_rest_api() -> None:
    parameters = {"WebConnectorCallsPerSecond": "7", "WebConnectorBurst": "9", "AnonymousCallsPerSecond": "3"}
    (stage,) = template_with(parameters).resources("AWS::ApiGatewayV2::Stage").values()

    limits = {"ThrottlingRateLimit": "7", "ThrottlingBurstLimit": "9"}
    assert stage["RouteSettings"] == {"GET /qbwc": limits, "POST /qbwc": limits}
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": "3", "ThrottlingBurstLimit": "3"}


def test_without_a_hosted_zone_the_dns_record_is_left_to_the_operator() -> None:
    template = template_with(DOMAIN | {"HostedZoneId": ""})

    assert template.resources("AWS::Route53::RecordSetGroup") == {}
    assert template.resolve(template.document["Outputs"]["DomainNameTarget"]["Value"]) == (
        "ApiDomainName.RegionalDomainName"
    )


def test_without_a_domain_name_its_resources_are_not_created() -> None:
    template = template_with({"HostedZoneId": "Z1"})

    assert [template.resources(kind) for kind in DOMAIN_TYPES] == [{}, {}, {}]
    assert base_urls(template) == {""}


def test_a_base_url_takes_precedence_over_the_domain_name() -> None:
    assert base_urls(template_with(DOMAIN | {"BaseUrl": "https://proxy.example"})) == {"https://proxy.example"}


@pytest.mark.parametrize(
    ("name", "matches"),
    [
        ("", True),
        ("queue.example.com", True),
        ("https://queue.example.com", False),
        ("queue.example.com/api", False),
        ("192.0.2.1", False),
        ("Queue.example.com", False),
    ],
)
def test_a_domain_name_is_a_host_name_in_lower_case(name: str, matches: bool) -> None:
    pattern = TEMPLATE.document["Parameters"]["DomainName"]["AllowedPattern"]

    assert (re.fullmatch(pattern, name) is not None) is matches


KEY = "arn:aws:kms:us-east-1:123456789012:key/1"


def test_a_key_of_the_operator_encrypts_every_table() -> None:
    tables = template_with({"TableKeyArn": KEY}).resources("AWS::DynamoDB::Table")

    assert len(tables) == 14
    for name, table in tables.items():
        expected = {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
        assert table["SSESpecification"] == expected, name


def test_without_a_key_of_the_operator_no_function_may_use_keys() -> None:
    assert {
        table["SSESpecification"]["SSEEnabled"] for table in TEMPLATE.resources("AWS::DynamoDB::Table").values()
    } == {False}
    assert "UseTableKeyPolicy" not in TEMPLATE.resources("AWS::IAM::ManagedPolicy")


def test_every_role_that_uses_tables_may_use_their_key_through_dynamodb_only() -> None:
    policy = template_with({"TableKeyArn": KEY}).resources("AWS::IAM::ManagedPolicy")["UseTableKeyPolicy"]
    users = {
        name
        for name, statement in statements()
        if any("dynamodb:" in action for action in as_list(statement["Action"]))
    }

    (statement,) = policy["PolicyDocument"]["Statement"]

    assert sorted(policy["Roles"]) == sorted(users)
    assert statement["Resource"] == KEY
    assert statement["Condition"] == {"StringEquals": {"kms:ViaService": "dynamodb.us-east-1.amazonaws.com"}}
    assert not any("*" in action for action in statement["Action"])


def test_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(TemplateError, match="no parameter Nothing"):
        Template.load(ROOT / "template.yaml", {"Nothing": "x"})


def test_the_access_log_names_each_call_and_contains_no_credential() -> None:
    access_log = TEMPLATE.api()["AccessLogSetting"]

    assert set(re.findall(r"\$context[.\w]+", access_log["Format"])) == {
        "$context.requestId",
        "$context.requestTimeEpoch",
        "$context.httpMethod",
        "$context.resourcePath",
        "$context.status",
        "$context.responseLatency",
        "$context.authorizer.app_id",
        "$context.identity.sourceIp",
        "$context.error.responseType",
    }
    assert json.loads(access_log["Format"])["message"] == "api.access"
    (stage,) = TEMPLATE.resources("AWS::ApiGatewayV2::Stage").values()
    assert set(re.findall(r"\$context[.\w]+", stage["AccessLogSettings"]["Format"])) == {
        "$context.requestId",
        "$context.requestTimeEpoch",
        "$context.httpMethod",
        "$context.routeKey",
        "$context.status",
        "$context.responseLatency",
        "$context.identity.sourceIp",
        "$context.error.responseType",
    }
    assert json.loads(stage["AccessLogSettings"]["Format"])["message"] == "api.access"
    log_group = TEMPLATE.resources("AWS::Logs::LogGroup")["AccessLogs"]
    assert log_group["RetentionInDays"] == 30
    # AWS keeps these log groups out of the resource policy of the account, which is limited to 5,120 characters.
    assert log_group["LogGroupName"].startswith("/aws/vendedlogs/")


@pytest.mark.parametrize(
    "parameters", [{}, {"AccessLog": "false"}, {"SetLogRole": "false"}, {"AccessLog": "false", "SetLogRole": "true"}]
)
def test_the_log_role_of_the_account_is_not_replaced_without_being_asked(parameters: dict[str, str]) -> None:
    template = template_with(parameters)

    assert ("AccessLogSetting" in template.api()) is (parameters.get("AccessLog") != "false")
    assert template.resources("AWS::ApiGateway::Account") == {}
    assert "ApiGatewayLogRole" not in template.resources("AWS::IAM::Role")


def test_the_log_role_of_the_account_is_set_before_the_access_log_needs_it_and_stays_in_every_case() -> None:
    template = template_with({"SetLogRole": "true"})

    assert template.resources("AWS::ApiGateway::Account").keys() == {"ApiGatewayAccount"}
    tags = template.resources("AWS::Logs::LogGroup")["AccessLogs"]["Tags"]
    assert [tag["Value"] for tag in tags] == ["ApiGatewayAccount"]
    for name in ("ApiGatewayAccount", "ApiGatewayLogRole"):
        assert TEMPLATE.document["Resources"][name]["DeletionPolicy"] == "Retain", name


DATA_TABLES = {
    f"{name}Table"
    for name in (
        "QueuedRequests",
        "Queue",
        "Payloads",
        "Counts",
        "Connections",
        "Apps",
        "AuditLog",
        "People",
        "Subscriptions",
    )
}


@pytest.mark.parametrize("is_protected", ["true", "false"])
def test_tables_with_data_survive_the_stack_but_not_a_failed_creation(is_protected: str) -> None:
    protection = template_with({"ProtectTables": is_protected}).resources("AWS::DynamoDB::Table")

    for name, table in of_type(transformed_template(), "AWS::DynamoDB::Table").items():
        policies = table.get("DeletionPolicy"), table.get("UpdateReplacePolicy")
        expected = ("RetainExceptOnCreate", "Retain") if name in DATA_TABLES else (None, None)
        assert policies == expected, name
        assert protection[name].get("DeletionProtectionEnabled") == (is_protected if name in DATA_TABLES else None)


def test_tables_are_not_protected_while_the_stack_is_created() -> None:
    assert TEMPLATE.parameters["ProtectTables"] == "false"


BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"


@pytest.mark.parametrize(("arn", "expected"), [(BOUNDARY, BOUNDARY), ("", None)])
def test_a_permissions_boundary_applies_to_every_role(arn: str, expected: str | None) -> None:
    roles = template_with({"PermissionsBoundaryArn": arn, "SetLogRole": "true"}).resources("AWS::IAM::Role")

    assert {role.get("PermissionsBoundary") for role in roles.values()} == {expected}


def test_lambda_repeats_no_scheduled_function_on_its_own() -> None:
    scheduled = {
        function.logical_id for function in TEMPLATE.functions() if any(e.type == "Schedule" for e in function.events)
    }
    configurations = of_type(transformed_template(), "AWS::Lambda::EventInvokeConfig").values()

    assert {configuration["Properties"]["FunctionName"]["Ref"] for configuration in configurations} == scheduled
    assert {configuration["Properties"]["MaximumRetryAttempts"] for configuration in configurations} == {0}


def test_webhooks_of_one_shard_leave_functions_for_calls_where_lambda_runs_ten_at_once() -> None:
    """A new table has four shards, which are all busy only at once. `make deploy-check` counts them."""
    sources = {
        name: source
        for name, source in of_type(transformed_template(), "AWS::Lambda::EventSourceMapping").items()
        if "Condition" not in source  # test connections, which are off
    }
    values = {
        name: TEMPLATE.resolve(source["Properties"].get("ParallelizationFactor", 1))
        for name, source in sources.items()
        # A connection reports an event a few times a month, so its stream hardly ever calls a function.
        if "ScalingConfig" not in source["Properties"] and "ConnectionChanged" not in name
    }
    (retries,) = [
        source["Properties"]["ScalingConfig"] for source in sources.values() if "ScalingConfig" in source["Properties"]
    ]
    at_most = sum(values.values()) + TEMPLATE.resolve(retries)["MaximumConcurrency"]

    assert at_most <= 6, "the sixth is busy only while runs of subscriptions find changes"
    assert {TEMPLATE.parameters[name] for name in ("WebConnectorConcurrency", "AuthorizerConcurrency")} == {0}


LAMBDA_LOG_LEVELS = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}


@pytest.mark.parametrize("level", TEMPLATE.document["Parameters"]["LogLevel"]["AllowedValues"])
def test_lambda_knows_the_log_level_of_every_function(level: str) -> None:
    for function in template_with({"LogLevel": level}).functions():
        assert function.properties["LoggingConfig"]["ApplicationLogLevel"] in LAMBDA_LOG_LEVELS, function.logical_id
        assert function.environment["POWERTOOLS_LOG_LEVEL"] == level


def test_a_stream_record_is_given_up_only_when_the_stream_would_lose_it() -> None:
    streams = [
        event.properties for function in TEMPLATE.functions() for event in function.events if event.type == "DynamoDB"
    ]

    assert [stream["MaximumRecordAgeInSeconds"] for stream in streams] == [24 * 3600] * 5


ALARMS = TEMPLATE.resources("AWS::CloudWatch::Alarm")


@for_each("name", sorted(ALARMS))
def test_each_alarm_has_an_entry_in_the_runbook_and_reaches_the_operator(name: str) -> None:
    runbook = (
        (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("## Alarms")[2].partition("\n## ")[0]
    )
    with_mail = template_with({"AlarmEmail": "operator@example.com"}).resources("AWS::CloudWatch::Alarm")

    assert f"`{name.removesuffix('Alarm')}`" in runbook
    assert with_mail[name]["AlarmActions"] == ["AlarmTopic"]
    assert ALARMS[name]["TreatMissingData"] == ("breaching" if name.endswith("MissingAlarm") else "notBreaching")


def test_one_server_error_is_not_an_alarm() -> None:
    alarm = ALARMS["ApiErrorsAlarm"]

    assert (alarm["Statistic"], alarm["Threshold"]) == ("Average", 0.01)
    assert alarm["DatapointsToAlarm"] == 2


def test_the_iterator_age_of_every_stream_has_an_alarm() -> None:
    streams = {
        function.logical_id for function in TEMPLATE.functions() if any(e.type == "DynamoDB" for e in function.events)
    }
    watched = {alarm["Dimensions"][0]["Value"] for alarm in ALARMS.values() if alarm.get("MetricName") == "IteratorAge"}

    assert watched == streams


def test_every_scheduled_function_has_an_alarm_that_it_did_not_run() -> None:
    scheduled = {
        function.logical_id for function in TEMPLATE.functions() if any(e.type == "Schedule" for e in function.events)
    }
    watched = {alarm["Dimensions"][0]["Value"] for alarm in ALARMS.values() if alarm.get("MetricName") == "Invocations"}

    assert watched == scheduled


def test_the_dashboard_is_optional_and_its_widgets_show_lines_and_resources_that_exist() -> None:
    assert TEMPLATE.resources("AWS::CloudWatch::Dashboard") == {}
    (dashboard,) = template_with({"Dashboard": "true"}).resources("AWS::CloudWatch::Dashboard").values()

    widgets = json.loads(dashboard["DashboardBody"])["widgets"]

    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "handlers").rglob("*.py"))
    for widget in widgets:
        properties = widget["properties"]
        assert properties["region"] == "us-east-1"
        assert "${" not in json.dumps(properties), properties["title"]
        for message in re.findall(r"message = '([^']+)'", properties.get("query", "")):
            assert f'"{message}"' in sources, properties["title"]
    assert {widget["type"] for widget in widgets} == {"log", "metric"}


@pytest.mark.parametrize(("parameters", "number"), [({}, 2), ({"WebAclArn": "arn:aws:wafv2:acl"}, 1)])
def test_the_dashboard_shows_the_calls_of_each_api(parameters: dict[str, str], number: int) -> None:
    (dashboard,) = template_with({"Dashboard": "true", **parameters}).resources("AWS::CloudWatch::Dashboard").values()

    counts = re.findall(r'\["AWS/ApiGateway", "Count"', dashboard["DashboardBody"])

    assert len(counts) == number
