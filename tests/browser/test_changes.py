"""The forms for changes: an object is read, edited, compared and sent once, if it has not changed meanwhile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import expect

from tests.browser.writes import author_of

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.support import Console
    from tests.e2e.support import Connection


def number_of_requests(connection: Connection) -> int:
    """Return how many requests a connection has."""
    number: int = connection.service.call("GET", f"{connection.path}/queued_requests?bodies=false").json["total"]
    return number


def control(console: Console, label: str) -> Locator:
    """Return the control with a label, which may end in the tag `required`."""
    return console.page.get_by_label(re.compile(rf"^{label}( required)?$"))


def executed(connection: Connection, request: dict[str, Any]) -> dict[str, Any]:
    """Queue a request, run it, and return its answer."""
    request_id = connection.queue({"request_json": request})["id"]
    connection.run_session()
    record = connection.record(request_id)
    assert record["state"] == "response_received", record["error"]
    answer = record["response_json"][0]["QBXMLMsgsRs"]
    (response,) = (value for name, value in answer.items() if not name.startswith("@"))
    return dict(response)


def customer(connection: Connection, **fields: Any) -> dict[str, Any]:
    """Add a customer."""
    return dict(executed(connection, {"CustomerAddRq": {"CustomerAdd": fields}})["CustomerRet"])


def read_again(connection: Connection, name: str) -> dict[str, Any]:
    """Return a customer as the company has it."""
    return dict(executed(connection, {"CustomerQueryRq": {"FullName": name}})["CustomerRet"][0])


def read(console: Console, connection: Connection, label: str, text: str) -> None:
    """Read an object in its form."""
    control(console, label).fill(text)
    console.button("Read from QuickBooks").click()
    console.sees("asks QuickBooks.")
    connection.run_session()
    expect(console.link("Read from QuickBooks")).to_be_visible()


def compose(console: Console, connection: Connection, type_name: str) -> None:
    """Sign in and open the form of a change."""
    console.sign_in(f"/app/compose?connection={connection.id}&type={type_name}")
    expect(console.page.get_by_role("region", name="Queue")).to_be_visible()


def queue(console: Console, action: str) -> str:
    """Press the button, confirm, and return the id of the request."""
    console.button(f"{action} in Test").click()
    console.confirm(action)
    console.page.wait_for_url("**/app/queued_requests/*")
    return console.page.url.rpartition("/")[2]


def test_a_phone_is_changed_and_a_field_is_cleared_and_nothing_else_is_sent(console: Console) -> None:
    connection = console.service.connection()
    address = {"Addr1": "1 Mill Lane", "City": "Bath", "PostalCode": "01234"}
    customer(connection, Name="Ada Kern", BillAddress=address, Phone="555-0100", Fax="555-0199", Email="a@example.com")
    compose(console, connection, "CustomerModRq")
    console.sees("Read the customer first. Its change can then be queued here.")
    expect(console.button("Change customer in Test")).to_have_count(0)
    read(console, connection, "Full name of the customer", "Ada Kern")
    console.button("Change customer in Test").click()
    console.sees("Nothing is changed yet.")

    expect(control(console, "Phone")).to_have_value("555-0100")
    control(console, "Phone").fill("555-0111")
    expect(control(console, "Phone")).to_have_accessible_description("It was 555-0100.")
    control(console, "Fax").fill("")
    expect(control(console, "Fax")).to_have_accessible_description("Clears Fax: it was 555-0199.")
    billing = console.page.get_by_role("region", name="Billing address")
    billing.get_by_label("City").fill("Wells")
    changes = console.page.get_by_role("region", name="What will change")
    expect(changes.get_by_role("row", name="Fax 555-0199 cleared")).to_be_visible()
    console.page.reload()
    expect(control(console, "Phone")).to_have_value("555-0111")
    console.button("Change customer in Test").click()
    dialog = console.page.get_by_role("dialog", name="Change customer Ada Kern in Test?", exact=True)
    expect(dialog.get_by_role("row", name="Phone 555-0100 555-0111")).to_be_visible()
    console.confirm("Change customer")
    console.page.wait_for_url("**/app/queued_requests/*")
    request_id = console.page.url.rpartition("/")[2]

    connection.run_session()
    xml = connection.record(request_id)["request_xml"]
    content = re.sub("<ListID>.*</EditSequence>", "", re.search("<CustomerMod>(.*)</CustomerMod>", xml)[1])  # type: ignore[index]
    billed = "<Addr1>1 Mill Lane</Addr1><City>Wells</City><PostalCode>01234</PostalCode>"
    assert content == f"<BillAddress>{billed}</BillAddress><Phone>555-0111</Phone><Fax></Fax>"
    after = read_again(connection, "Ada Kern")
    assert after["Phone"] == "555-0111"
    assert "Fax" not in after
    assert after["Email"] == "a@example.com"
    assert after["BillAddress"]["City"] == "Wells"


def invoice(connection: Connection, number: str, desc: str = "") -> dict[str, Any]:
    """Add an invoice of three lines for a new customer. They are numbered unless all have one description."""
    item = executed(connection, {"ItemServiceQueryRq": {"MaxReturned": "1"}})["ItemServiceRet"][0]["FullName"]
    customer(connection, Name=f"Customer {number}")
    lines = [
        {"ItemRef": {"FullName": item}, "Desc": desc or f"Day {n}", "Quantity": str(n), "Rate": "10.00"}
        for n in (1, 2, 3)
    ]
    content = {"CustomerRef": {"FullName": f"Customer {number}"}, "RefNumber": number, "InvoiceLineAdd": lines}
    return dict(executed(connection, {"InvoiceAddRq": {"InvoiceAdd": content}})["InvoiceRet"])


def test_one_line_of_an_invoice_is_changed_and_the_others_stay(console: Console) -> None:
    connection = console.service.connection()
    before = invoice(connection, "F-1042")
    compose(console, connection, "InvoiceModRq")
    read(console, connection, "Number of the invoice", "F-1042")

    control(console, "Quantity of line 2").fill("5")
    control(console, "Description of line 2").fill("Five days")
    changes = console.page.get_by_role("region", name="What will change")
    expect(changes.get_by_role("row", name=re.compile("Changed.*Five days"))).to_be_visible()
    expect(changes.get_by_text("Kept")).to_have_count(2)
    request_id = queue(console, "Change invoice")
    connection.run_session()

    record = connection.record(request_id)
    assert record["state"] == "response_received", record["error"]
    first, second, third = (one["TxnLineID"] for one in before["InvoiceLineRet"])
    lines = re.findall("<InvoiceLineMod>(.*?)</InvoiceLineMod>", record["request_xml"])
    assert lines[0] == f"<TxnLineID>{first}</TxnLineID>"
    assert lines[1] == (
        f"<TxnLineID>{second}</TxnLineID><Desc>Five days</Desc><Quantity>5</Quantity><Rate>10.00</Rate>"
    )
    assert lines[2] == f"<TxnLineID>{third}</TxnLineID>"
    after = executed(connection, {"InvoiceQueryRq": {"RefNumber": "F-1042", "IncludeLineItems": "true"}})["InvoiceRet"][
        0
    ]
    assert [one["Amount"] for one in after["InvoiceLineRet"]] == ["10.00", "50.00", "30.00"]
    assert [one["TxnLineID"] for one in after["InvoiceLineRet"]] == [first, second, third]
    assert after["Subtotal"] == "90.00"


def test_lines_are_added_and_removed_and_the_last_one_stays(console: Console) -> None:
    connection = console.service.connection()
    invoice(connection, "F-1043")
    compose(console, connection, "InvoiceModRq")
    read(console, connection, "Number of the invoice", "F-1043")

    console.button("Clone line 3").click()
    control(console, "Rate of line 4").fill("12.5")
    console.button("Remove line 1").click()
    request_id = queue(console, "Change invoice")
    connection.run_session()

    assert connection.record(request_id)["state"] == "response_received", connection.record(request_id)["error"]
    after = executed(connection, {"InvoiceQueryRq": {"RefNumber": "F-1043", "IncludeLineItems": "true"}})["InvoiceRet"][
        0
    ]
    assert [one["Amount"] for one in after["InvoiceLineRet"]] == ["20.00", "30.00", "37.50"]
    assert [one["Desc"] for one in after["InvoiceLineRet"]] == ["Day 2", "Day 3", "Day 3"]


def test_a_change_of_an_object_that_has_changed_is_refused_and_put_on_what_it_is_now(console: Console) -> None:
    connection = console.service.connection()
    ada = customer(connection, Name="Ada Brix", Phone="555-0100", Email="old@example.com")
    compose(console, connection, "CustomerModRq")
    read(console, connection, "Full name of the customer", "Ada Brix")
    control(console, "Phone").fill("555-0111")
    keys = {"ListID": ada["ListID"], "EditSequence": ada["EditSequence"]}
    executed(connection, {"CustomerModRq": {"CustomerMod": {**keys, "Email": "new@example.com"}}})
    refused = queue(console, "Change customer")
    connection.run_session()

    console.link("Read again and change").click()
    console.sees("The customer has changed in QuickBooks since this change was made.")
    console.button("Read the customer again").click()
    console.sees("asks QuickBooks.")
    connection.run_session()
    expect(control(console, "Email")).to_have_value("new@example.com")
    expect(control(console, "Phone")).to_have_value("555-0111")
    request_id = queue(console, "Change customer")
    connection.run_session()

    assert connection.record(refused)["error"]["details"]["status_code"] == 3200
    assert connection.record(request_id)["state"] == "response_received"
    after = read_again(connection, "Ada Brix")
    assert (after["Phone"], after["Email"]) == ("555-0111", "new@example.com")


def test_an_invoice_that_is_read_again_keeps_the_change_of_another_person(console: Console) -> None:
    connection = console.service.connection()
    before = invoice(connection, "F-1044")
    compose(console, connection, "InvoiceModRq")
    read(console, connection, "Number of the invoice", "F-1044")
    control(console, "Quantity of line 1").fill("5")
    console.button("Remove line 2").click()
    first, second, third = (one["TxnLineID"] for one in before["InvoiceLineRet"])
    lines = [{"TxnLineID": first, "Rate": "12.00"}, {"TxnLineID": second}, {"TxnLineID": third}]
    keys = {"TxnID": before["TxnID"], "EditSequence": before["EditSequence"]}
    executed(connection, {"InvoiceModRq": {"InvoiceMod": {**keys, "InvoiceLineMod": lines}}})

    console.button("Read the invoice again").click()
    expect(console.page.get_by_text("remove them once more")).to_have_count(0)
    console.button("Read the invoice again").click()
    console.sees("asks QuickBooks.")
    connection.run_session()
    expect(control(console, "Rate of line 1")).to_have_value("12.00")
    expect(control(console, "Quantity of line 1")).to_have_value("5")
    queue(console, "Change invoice")
    connection.run_session()

    query = {"InvoiceQueryRq": {"RefNumber": "F-1044", "IncludeLineItems": "true"}}
    after = executed(connection, query)["InvoiceRet"][0]
    assert [one["Amount"] for one in after["InvoiceLineRet"]] == ["60.00", "30.00"]


def test_a_description_of_several_lines_keeps_them(console: Console) -> None:
    connection = console.service.connection()
    invoice(connection, "F-1045", desc="First visit\nSecond visit")
    compose(console, connection, "InvoiceModRq")
    read(console, connection, "Number of the invoice", "F-1045")

    field = control(console, "Description of line 2")
    expect(field).to_have_value("First visit\nSecond visit")
    field.press("End")
    field.press("Control+End")
    field.press_sequentially("s")
    request_id = queue(console, "Change invoice")

    xml = connection.record(request_id)["request_xml"]
    assert re.findall("<Desc>([^<]*)</Desc>", xml) == ["First visit\nSecond visits"]


def test_a_person_stops_waiting_and_chooses_another_customer(console: Console) -> None:
    connection = console.service.connection()
    for name in ("Ada Wrong", "Ada Right"):
        customer(connection, Name=name, Phone="555-0100")
    compose(console, connection, "CustomerModRq")
    control(console, "Full name of the customer").fill("Nobody")
    console.button("Read from QuickBooks").click()
    console.sees("asks QuickBooks.")
    console.button("Stop waiting").click()
    read(console, connection, "Full name of the customer", "Ada Wrong")
    console.button("Change another customer").click()
    read(console, connection, "Full name of the customer", "Ada Right")

    expect(control(console, "Name")).to_have_value("Ada Right")
    control(console, "Phone").fill("555-0111")
    expect(console.button("Change another customer")).to_have_count(0)


def test_a_change_whose_answer_was_lost_is_queued_once(console: Console) -> None:
    connection = console.service.connection()
    customer(connection, Name="Ada Once", Phone="555-0100")
    compose(console, connection, "CustomerModRq")
    read(console, connection, "Full name of the customer", "Ada Once")
    control(console, "Phone").fill("555-0111")
    lost: list[int] = []

    def lose(route: Any) -> None:
        response = route.fetch()
        if lost or route.request.method != "POST":
            route.fulfill(response=response)
        else:
            lost.append(response.status)
            route.abort()

    console.page.route("**/queued_requests", lose)
    console.button("Change customer in Test").click()
    console.confirm("Change customer")
    console.sees("Nothing is lost: press the button again.")
    console.button("Change customer in Test").click()
    console.page.wait_for_url("**/app/queued_requests/*")

    response = connection.service.call("GET", f"{connection.path}/queued_requests?bodies=false")
    names = [record["request_name"] for record in response.json["data"]]
    assert lost == [201]
    assert names.count("CustomerModRq") == 1


def test_a_name_that_does_not_exist_is_said_and_a_change_as_text_keeps_what_it_clears(console: Console) -> None:
    connection = console.service.connection()
    customer(connection, Name="Ada Text", Phone="555-0100", Fax="555-0199")
    compose(console, connection, "CustomerModRq")
    control(console, "Full name of the customer").fill("Nobody")
    console.button("Read from QuickBooks").click()
    console.sees("asks QuickBooks.")
    connection.run_session()
    console.sees("QuickBooks has not returned the customer.")
    read(console, connection, "Full name of the customer", "Ada Text")

    control(console, "Fax").fill("")
    console.button("All fields").click()
    console.sees("All fields would leave out the empty elements")
    console.button("XML", exact=True).first.click()
    expect(console.page.get_by_label("XML of the request")).to_contain_text("<Fax></Fax>")
    console.button("Form", exact=True).click()
    expect(control(console, "Fax")).to_have_accessible_description("Clears Fax: it was 555-0199.")
    expect(control(console, "Phone")).to_have_value("555-0100")


def test_a_change_of_a_key_that_proposes_waits_for_approval(console: Console) -> None:
    connection = console.service.connection()
    customer(connection, Name="Ada Waits", Phone="555-0100")
    console.sign_in(f"/app/compose?connection={connection.id}&type=CustomerModRq", key=author_of(console.service))
    read(console, connection, "Full name of the customer", "Ada Waits")
    control(console, "Phone").fill("555-0111")
    request_id = queue(console, "Change customer")
    connection.run_session()

    record = connection.record(request_id)
    assert (record["state"], record["approval"]["decision"]) == ("waiting", None)
    assert read_again(connection, "Ada Waits")["Phone"] == "555-0100"


def test_a_key_that_only_reads_can_neither_read_an_object_nor_change_it(console: Console) -> None:
    connection = console.service.connection()
    key = console.service.operate("create_key", app_id=console.service.app_id, scope="read_only")["api_key"]
    console.sign_in(f"/app/compose?connection={connection.id}&type=CustomerModRq", key=key)

    expect(console.page.get_by_label("Full name of the customer")).to_be_visible()
    expect(console.button("Read from QuickBooks")).to_have_count(0)
    expect(console.button("Change customer")).to_have_count(0)


def test_ctrl_k_opens_the_forms_for_changes_of_the_connection(console: Console) -> None:
    connection = console.service.connection()
    console.sign_in(f"/app/connections/{connection.id}")
    console.sees_heading("Test")
    console.page.keyboard.press("Control+k")
    console.page.get_by_role("combobox", name="Connection, request or action").fill("change invoice")
    console.page.keyboard.press("Enter")
    console.page.wait_for_url("**/app/compose?*type=InvoiceModRq*")
    expect(console.page.get_by_label("Number of the invoice")).to_be_visible()


def test_the_page_of_a_request_leads_to_the_change_of_its_only_object(console: Console) -> None:
    connection = console.service.connection()
    for name in ("Ada Kern", "Bo Kern"):
        customer(connection, Name=name, Phone="555-0100")
    request_id = connection.queue({"request_json": {"CustomerQueryRq": {"FullName": "Ada Kern"}}})["id"]
    several = connection.queue({"request_json": {"CustomerQueryRq": {"MaxReturned": 2}}})["id"]
    connection.run_session()
    console.sign_in(f"/app/queued_requests/{several}")
    expect(console.link("Edit and queue again").or_(console.button("Queue again"))).to_be_visible()
    expect(console.link("Change this customer")).to_have_count(0)

    console.open(f"/app/queued_requests/{request_id}")
    console.link("Change this customer").click()
    console.sees("asks QuickBooks.")
    named = console.page.get_by_role("form", name="Read the customer").locator(".strong").first
    expect(named).to_have_text(re.compile(r"^\s*Customer\s+Ada Kern\s+\w+-\d+\s*$"))
    connection.run_session()
    control(console, "Phone").fill("555-0111")
    queue(console, "Change customer")
    connection.run_session()

    assert read_again(connection, "Ada Kern")["Phone"] == "555-0111"
    assert read_again(connection, "Bo Kern")["Phone"] == "555-0100"


def test_a_click_on_the_change_of_an_object_reads_it_once_and_an_address_reads_nothing(console: Console) -> None:
    connection = console.service.connection()
    customer(connection, Name="Ada Once")
    request_id = connection.queue({"request_json": {"CustomerQueryRq": {"FullName": "Ada Once"}}})["id"]
    connection.run_session()
    before = number_of_requests(connection)
    console.sign_in(f"/app/queued_requests/{request_id}")
    console.link("Change this customer").click()
    console.sees("asks QuickBooks.")
    console.button("Stop waiting").click()
    for move in (console.page.go_back, console.page.go_forward, console.page.reload):
        move()
    expect(console.button("Read from QuickBooks")).to_be_enabled()

    assert number_of_requests(connection) == before + 1


def test_an_object_of_another_company_file_does_not_get_the_name_of_the_one_with_its_id(console: Console) -> None:
    """Two copies of a company file have the same IDs, and may have other customers behind them."""
    first, second = console.service.connection(), console.service.connection()
    list_id = customer(first, Name="Ada Kern")["ListID"]
    request_id = first.queue({"request_json": {"CustomerQueryRq": {"FullName": "Ada Kern"}}})["id"]
    first.run_session()
    console.sign_in(f"/app/queued_requests/{request_id}")
    console.link("Change this customer").click()
    console.sees("Customer Ada Kern")
    console.page.evaluate(
        "(address) => { history.pushState(null, '', address); dispatchEvent(new PopStateEvent('popstate')); }",
        f"/app/compose?connection={second.id}&type=CustomerModRq&object={list_id}",
    )

    form = console.page.get_by_role("form", name="Read the customer")
    expect(form).to_contain_text(list_id)
    expect(console.page.get_by_text("Ada Kern")).to_have_count(0)


def test_drafts_of_changes_of_two_objects_do_not_mix(console: Console) -> None:
    connection = console.service.connection()
    ids = [customer(connection, Name=name)["ListID"] for name in ("Ada Kern", "Bo Kern")]
    address = f"/app/compose?connection={connection.id}&type=CustomerModRq&object="
    console.sign_in(address + ids[0])
    console.button("Read from QuickBooks").click()
    console.sees("asks QuickBooks.")
    connection.run_session()
    control(console, "Phone").fill("555-0111")

    console.open(address + ids[1])
    console.sees("Read the customer as it is now, then change it.")
    console.button("Change another customer").click()
    read(console, connection, "Full name of the customer", "Ada Kern")
    control(console, "Phone").fill("555-0122")
    console.open(address + ids[1])
    console.sees("Read the customer as it is now, then change it.")
    console.open(address + ids[0])
    expect(control(console, "Phone")).to_have_value("555-0111")
