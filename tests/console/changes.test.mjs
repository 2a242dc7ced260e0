import assert from "node:assert/strict";
import { before, test } from "node:test";

import {
  baseOf,
  changeProblems,
  changeRequest,
  CHANGES,
  editedOf,
  isChange,
  objectOfChange,
  readingQuery,
} from "../../src/console/lib/changes.js";
import { newLine, nodesAt, replaced, rootOf, withChildren } from "../../src/console/lib/form_tree.js";
import { beginning, bodyOf, lacksOf, modesOf, requestOf, switched } from "../../src/console/lib/request_draft.js";
import { inOrder, requestType, textProblem } from "../../src/console/lib/schema.js";
import { elementsIn } from "../../src/console/lib/trees.js";
import { contentOf, differenceOf } from "../../src/console/lib/write_fields.js";
import { applied, idOf, isEmpty, isLine, randomEdit, randomObject } from "./random_changes.mjs";
import { chance } from "./support.mjs";

const RUNS = 100;
const types = {};

before(async () => {
  for (const name of Object.keys(CHANGES)) types[name] = await requestType(name);
});

/** Returns the values of an object, without empty ones and ids, to be compared. */
const valuesOf = (children) =>
  children
    .filter((one) => !isEmpty(one) && one.name !== "TxnLineID")
    .map((one) => (one.children ? [one.name, valuesOf(one.children)] : [one.name, one.text]))
    .filter(([, value]) => value.length)
    .map((one) => [isLine({ name: one[0] }) ? 1 : 0, one])
    .sort(([first, one], [second, other]) => first - second || (first ? 0 : one[0].localeCompare(other[0])))
    .map(([, one]) => one);

const isLineOf = (base, line) => base.children.some((one) => isLine(one) && isLine(line) && idOf(one) === idOf(line));
const isBlankLine = (one) => isLine(one) && one.children.every((part) => part.name === "TxnLineID" || isEmpty(part));

/** Returns lines without the rates that amounts replace. */
const withoutRates = (children) =>
  children.map((one) =>
    isLine(one) && one.children.some(({ name, text }) => name === "Amount" && text)
      ? { ...one, children: one.children.filter(({ name }) => name !== "Rate") }
      : one,
  );

const plainTree = ({ name, text, children, attributes }) => ({
  name,
  ...(attributes ? { attributes } : {}),
  ...(children ? { children: children.map(plainTree) } : { text }),
});

const contentIn = (type, tree) => rootOf(CHANGES[type.name].form, tree).children;

function eachEdit(run) {
  for (const type of Object.values(types)) {
    const below = chance(7);
    for (let n = 0; n < RUNS; n += 1) {
      const base = baseOf(type, randomObject(type, below));
      run(type, base, randomEdit(type, base, below), below);
    }
  }
}

// --- The rules ---------------------------------------------------------------------------------------------------

test("a change makes of the object in QuickBooks what the person has edited", () => {
  let changed = 0;
  eachEdit((type, base, edited) => {
    const request = changeRequest(type.name, base, edited);
    const after = applied(base.children, contentIn(type, request));
    const wanted = contentIn(type, edited).filter((one) => isLineOf(base, one) || !isBlankLine(one));
    assert.deepEqual(valuesOf(withoutRates(after)), valuesOf(withoutRates(wanted)));
    changed += isChange(request);
  });
  assert.ok(changed > RUNS);
});

test("a change names what differs, keeps lines by their id only, and has the state that was read", () => {
  let kept = 0;
  eachEdit((type, base, edited) => {
    const content = contentIn(type, changeRequest(type.name, base, edited));
    const textIn = (name) => base.children.find((one) => one.name === name).text;
    const id = CHANGES[type.name].id;
    assert.deepEqual(content.slice(0, 2).map(plainTree), [
      { name: id, text: textIn(id) },
      { name: "EditSequence", text: textIn("EditSequence") },
    ]);
    for (const field of content.slice(2).filter((one) => !isLine(one))) {
      const former = base.children.find((one) => one.name === field.name);
      assert.notDeepEqual(plainTree(field), former && plainTree(former), field.name);
    }
    const lines = content.filter(isLine);
    const next = contentIn(type, edited).filter(isLine);
    for (const line of lines) {
      const former = base.children.find((one) => isLine(one) && idOf(one) === idOf(line));
      const edit = next.find((one) => idOf(one) === idOf(line));
      if (!former) assert.equal(idOf(line), "-1");
      else if (JSON.stringify(valuesOf(former.children)) === JSON.stringify(valuesOf(edit.children))) {
        const names = new Set(flatNames(line));
        names.delete(former.name.includes("Group") ? "InvoiceLineMod" : "");
        assert.deepEqual([...names], ["TxnLineID"]);
        kept += 1;
      }
    }
    const isSame = JSON.stringify(valuesOf(next)) === JSON.stringify(valuesOf(base.children.filter(isLine)));
    const sent = next.filter((one) => isLineOf(base, one) || !isBlankLine(one)).map((one) => idOf(one) || "-1");
    assert.deepEqual(lines.map(idOf), isSame ? [] : sent);
  });
  assert.ok(kept > RUNS / 4, String(kept));
});

const flatNames = (tree) => tree.children.flatMap((one) => [one.name, ...(one.children ? flatNames(one) : [])]);

test("a change is in the order of the schema, and its texts are allowed or empty", () => {
  eachEdit((type, base, edited) => {
    const visit = (content, { name, children }) => {
      const elements = new Map(elementsIn(content).map((one) => [one.name, one]));
      assert.deepEqual(inOrder(content, children), children, name);
      for (const one of children) {
        assert.ok(elements.has(one.name), `${name}/${one.name}`);
        if (one.children) visit(elements.get(one.name).content, one);
        else assert.equal(textProblem(elements.get(one.name), one.text), null);
      }
    };
    visit(type.content, changeRequest(type.name, base, edited));
  });
});

test("a change that is read back from its text gives the same change", () => {
  eachEdit((type, base, edited) => {
    const draft = { ...beginning(type, null, "16.0"), base, edited };
    const tree = plainTree(changeRequest(type.name, base, edited));
    const again = editedOf(type, base, tree, base);

    assert.deepEqual(plainTree(changeRequest(type.name, base, again)), tree);
    const json = { ...draft, ...switched(type, draft, "json", "16.0") };
    assert.deepEqual(bodyOf(json).request_json, JSON.parse(json.text));
    const back = { ...json, ...switched(type, json, "change", "16.0") };
    assert.deepEqual(bodyOf(back), bodyOf(draft));
    assert.deepEqual(plainTree(requestOf(back, "16.0").tree), tree);
  });
});

test("changes are put on an object that has changed, and its new lines stay", () => {
  eachEdit((type, base, edited, below) => {
    const newer = {
      ...base,
      children: base.children.map((one) => (one.name === "EditSequence" ? { ...one, text: "9" } : one)),
    };
    if (CHANGES[type.name].form.lines)
      newer.children.push({
        name: "InvoiceLineMod",
        children: [
          { name: "TxnLineID", text: "L99" },
          { name: "Desc", text: "of another person" },
        ],
      });
    const earlier = plainTree(changeRequest(type.name, base, edited));
    const content = contentIn(type, changeRequest(type.name, newer, editedOf(type, newer, earlier)));
    const fields = (children) => children.filter((one) => !isLine(one) && one.name !== "EditSequence").map(plainTree);

    assert.equal(content[1].text, "9");
    assert.deepEqual(fields(content), fields(contentIn(type, earlier)));
    if (content.some(isLine) && CHANGES[type.name].form.lines)
      assert.ok(
        content.some((one) => isLine(one) && idOf(one) === "L99"),
        below,
      );
  });
});

test("what will change is shown as it is sent", () => {
  eachEdit((type, base, edited) => {
    const content = contentOf(changeRequest(type.name, base, edited));
    const { fields } = differenceOf(content, objectOfChange(base));

    for (const { key, isChanged, before: former, after } of fields)
      if (!key.includes("/")) assert.ok(isChanged || former === after, key);
  });
});

test("what QuickBooks needs cannot be emptied, an invoice keeps a line, and nothing is sent without a change", () => {
  const type = types.InvoiceModRq;
  const { form } = CHANGES.InvoiceModRq;
  const line = (id, desc) => ({
    name: "InvoiceLineRet",
    children: [
      { name: "TxnLineID", text: id },
      { name: "Desc", text: desc },
    ],
  });
  const base = baseOf(type, {
    name: "InvoiceRet",
    children: [
      { name: "TxnID", text: "1-1" },
      { name: "EditSequence", text: "1" },
      {
        name: "CustomerRef",
        children: [
          { name: "ListID", text: "8-1" },
          { name: "FullName", text: "Ada" },
        ],
      },
      { name: "TxnDate", text: "2026-01-31" },
      { name: "RefNumber", text: "0042" },
      line("L1", "one"),
    ],
  });
  const edited = editedOf(type, base, { name: type.name, attributes: {}, children: [] });
  const enter = (tree, path, text) => {
    const node = nodesAt(rootOf(form, tree), path).at(-1);
    return replaced(tree, node, { ...node, text });
  };
  const messages = (tree) => changeProblems(type.name, base, tree).map(({ message }) => message);

  assert.deepEqual(messages(edited), ["Nothing is changed yet."]);
  assert.deepEqual(messages(enter(edited, "CustomerRef/FullName", "")), [
    "Customer cannot be empty: QuickBooks needs it.",
  ]);
  assert.deepEqual(messages(enter(edited, "RefNumber", "42")), []);
  const none = withChildren(form, type, edited, (children) => [
    ...children.filter((one) => !isLine(one)),
    newLine(form, type),
  ]);
  assert.match(messages(none)[0], /keeps at least one line/);
  const draft = beginning(type, null, "16.0");
  assert.deepEqual(lacksOf(type, draft), [{ message: "Read the invoice from QuickBooks first." }]);
  assert.deepEqual(modesOf(type)[0], ["change", "Form"]);
});

test("what occurs several times stays, and a number without its zeros is shown as a change", () => {
  const type = types.CustomerModRq;
  const { form } = CHANGES.CustomerModRq;
  const addresses = ["Mill", "Shop"].map((text) => ({ name: "ShipToAddress", children: [{ name: "Name", text }] }));
  const base = baseOf(type, {
    name: "CustomerRet",
    children: [
      { name: "ListID", text: "8-1" },
      { name: "EditSequence", text: "1" },
      { name: "Name", text: "Ada" },
      ...addresses,
      { name: "AccountNumber", text: "0042" },
    ],
  });
  const edited = editedOf(type, base, { name: type.name, attributes: {}, children: [] });
  const node = nodesAt(rootOf(form, edited), "AccountNumber").at(-1);
  const request = changeRequest(type.name, base, replaced(edited, node, { ...node, text: "42" }));

  assert.equal(isChange(changeRequest(type.name, base, edited)), false);
  assert.deepEqual(
    differenceOf(contentOf(request), objectOfChange(base)).fields.map(({ key, before: former, after, isChanged }) => [
      key,
      former,
      after,
      isChanged,
    ]),
    [["AccountNumber", "0042", "42", true]],
  );
});

test("a change as text keeps the order of the schema in the form, and one that the form cannot show stays text", () => {
  const type = types.CustomerModRq;
  const leaf = (name, text) => ({ name, text });
  const parts = ["Addr1", "Addr2", "Addr3", "City", "State", "PostalCode", "Country"];
  const keys = [leaf("ListID", "8-1"), leaf("EditSequence", "1")];
  const address = { name: "BillAddress", children: parts.map((name) => leaf(name, "a")) };
  const base = baseOf(type, { name: "CustomerRet", children: [...keys, leaf("Name", "Ada"), address] });
  const change = (children) => ({ name: type.name, children: [{ name: "CustomerMod", children }] });
  const fifth = change([...keys, { name: "BillAddress", children: [leaf("Addr5", "b")] }]);
  const content = contentIn(type, changeRequest(type.name, base, editedOf(type, base, fifth)));
  const draft = { ...beginning(type, null, "16.0"), base, mode: "json" };
  const asText = (sequence) => ({
    ...draft,
    text: JSON.stringify({ CustomerModRq: { CustomerMod: { ListID: "8-1", EditSequence: sequence, Phone: "7" } } }),
  });

  assert.deepEqual(flatNames({ children: content.slice(2) }).slice(1, 5), ["Addr1", "Addr2", "Addr3", "Addr5"]);
  assert.equal(switched(type, asText("1"), "change", "16.0").mode, "change");
  assert.throws(() => switched(type, asText("2"), "change", "16.0"), /The form cannot show this change/);
});

test("an object is read by its name or number, and by its id once that is known", () => {
  const none = { name: "InvoiceModRq", children: [] };
  const known = { ...none, children: [{ name: "InvoiceMod", children: [{ name: "TxnID", text: "1-1" }] }] };

  assert.deepEqual(readingQuery(CHANGES.CustomerModRq, none, "Ada"), { CustomerQueryRq: { FullName: "Ada" } });
  assert.deepEqual(readingQuery(CHANGES.InvoiceModRq, none, "7"), {
    InvoiceQueryRq: { RefNumber: "7", IncludeLineItems: "true" },
  });
  assert.deepEqual(readingQuery(CHANGES.InvoiceModRq, known, ""), {
    InvoiceQueryRq: { TxnID: "1-1", IncludeLineItems: "true" },
  });
});
