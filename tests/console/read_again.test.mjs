import assert from "node:assert/strict";
import { before, test } from "node:test";

import { baseOf, changeProblems, changeRequest, CHANGES, editedOf } from "../../src/console/lib/changes.js";
import { linesOf, nodesAt, replaced, rootOf } from "../../src/console/lib/form_tree.js";
import { requestType } from "../../src/console/lib/schema.js";
import { isLine } from "./random_changes.mjs";

let type;

before(async () => {
  type = await requestType("InvoiceModRq");
});

const { form } = CHANGES.InvoiceModRq;
const plainTree = ({ name, text, children }) => ({
  name,
  ...(children ? { children: children.map(plainTree) } : { text }),
});
const contentIn = (tree) => rootOf(form, tree).children;
const leaf = (name, text) => ({ name, text });
const reference = (name, text) => ({ name, children: [leaf("ListID", `8-${text}`), leaf("FullName", text)] });
const invoiceLine = (id, parts) => ({
  name: "InvoiceLineRet",
  children: [leaf("TxnLineID", id), ...Object.entries(parts).map(([name, text]) => leaf(name, text))],
});
const invoiceOf = (sequence, lines) => ({
  name: "InvoiceRet",
  children: [
    leaf("TxnID", "1-1"),
    leaf("EditSequence", sequence),
    reference("CustomerRef", "Ada"),
    leaf("TxnDate", "2026-01-31"),
    ...lines,
  ],
});
const empty = { name: "InvoiceModRq", attributes: {}, children: [] };

/** Returns the form of an invoice, a function that enters a text in a line, and one that returns the texts it sends. */
function invoiceForm(lines, sequence = "1") {
  const base = baseOf(type, invoiceOf(sequence, lines));
  const enter = (tree, n, path, text) => {
    const node = nodesAt(linesOf(form, tree)[n], path).at(-1);
    return replaced(tree, node, { ...node, text });
  };
  const linesSent = (tree) =>
    contentIn(changeRequest(type.name, base, tree))
      .filter(isLine)
      .map(({ children }) => Object.fromEntries(children.map(({ name, text }) => [name, text])));
  return { base, enter, linesSent, edited: editedOf(type, base, empty) };
}

test("an invoice that is read again keeps what another person has changed, and stays without removed lines", () => {
  const price = { Quantity: "2", Rate: "10", Amount: "20.00" };
  const first = invoiceForm([invoiceLine("L1", price), invoiceLine("L2", price), invoiceLine("L3", price)]);
  const gone = linesOf(form, first.edited)[1];
  const edited = replaced(first.enter(first.edited, 0, "Quantity", "5"), gone, null);
  const earlier = changeRequest(type.name, first.base, edited);
  const now = invoiceForm(
    [
      invoiceLine("L1", { ...price, Rate: "12", Amount: "24.00" }),
      invoiceLine("L2", price),
      invoiceLine("L3", { ...price, Rate: "11", Amount: "22.00" }),
      invoiceLine("L4", price),
    ],
    "2",
  );

  assert.deepEqual(now.linesSent(editedOf(type, now.base, earlier, first.base)), [
    { TxnLineID: "L1", Quantity: "5", Rate: "12" },
    { TxnLineID: "L3" },
    { TxnLineID: "L4" },
  ]);
});

test("a rate and an amount that contradict each other are not sent", () => {
  const { base, enter, edited } = invoiceForm([invoiceLine("L1", { Quantity: "3", Amount: "100.00" })]);
  const messages = (tree) => changeProblems(type.name, base, tree).map(({ message }) => message);

  assert.match(messages(enter(edited, 0, "Rate", "40"))[0], /^The amount is not the quantity times the rate/);
  assert.deepEqual(messages(enter(edited, 0, "Rate", "33.33333")), []);
  assert.deepEqual(messages(enter(edited, 0, "Amount", "120.00")), []);
});

test("the id of a reference decides, as in QuickBooks", () => {
  const { base } = invoiceForm([invoiceLine("L1", { Desc: "one" })]);
  const named = {
    name: "CustomerRef",
    children: [leaf("ListID", "8-Bea"), leaf("FullName", "Ada")],
  };
  const earlier = { name: type.name, children: [{ name: "InvoiceMod", children: [named] }] };
  const [, , sent] = contentIn(changeRequest(type.name, base, editedOf(type, base, earlier)));

  assert.deepEqual(plainTree(sent), { name: "CustomerRef", children: [leaf("ListID", "8-Bea")] });
});
