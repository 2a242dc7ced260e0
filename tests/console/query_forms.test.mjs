import assert from "node:assert/strict";
import { before, test } from "node:test";

import { excludes, nodesAt, replaced, withoutUnused } from "../../src/console/lib/form_tree.js";
import { choiceIn, choicesOf, queryForm, rangeLacks, withChoice } from "../../src/console/lib/query_forms.js";
import { formOf, inForm, modesOf } from "../../src/console/lib/request_draft.js";
import { inOrder, requestNames, requestType, textProblem } from "../../src/console/lib/schema.js";
import { fieldsOf } from "../../src/console/lib/simple_forms.js";
import { elementsIn, formTree, missingIn, pruned } from "../../src/console/lib/trees.js";
import { chance, times } from "./support.mjs";

let types;

before(async () => {
  const all = await Promise.all((await requestNames()).map(requestType));
  types = all.filter((type) => choicesOf(type).length);
});

const SAMPLES = {
  DATETYPE: "2026-01-31",
  DATETIMETYPE: "2026-01-31T13:30:00",
  BOOLTYPE: "true",
  INTTYPE: "7",
  IDTYPE: "80000001-1",
  GUIDTYPE: "0",
};

/** Returns the element of the schema at a path. */
const elementAt = (element, [name, ...others]) => {
  const found = elementsIn(element.content).find((one) => one.name === name);
  return others.length ? elementAt(found, others) : found;
};

const sample = (type, path) => {
  const { base, values } = elementAt(type, path.split("/"));
  return values ? values.at(-1) : (SAMPLES[base] ?? "Kern & Söhne");
};

const filled = (type, tree, paths) =>
  paths.reduce((next, path) => {
    const node = nodesAt(next, path).at(-1);
    assert.equal(node?.name, path.split("/").at(-1), `${type.name} ${path} is open`);
    return replaced(next, node, { ...node, text: sample(type, path) });
  }, tree);

/** Fails if a tree is not a request of a type. */
function check(type, tree, about) {
  const visit = (content, { name, children }) => {
    const elements = elementsIn(content);
    assert.deepEqual(inOrder(content, children), children, `the order in ${name}: ${about}`);
    for (const one of children) {
      const element = elements.find((each) => each.name === one.name);
      assert.ok(element, `${name}/${one.name}: ${about}`);
      for (const other of children)
        assert.ok(other.name === one.name || !excludes(content, one.name, other.name), `${one.name}: ${about}`);
      if (one.children) visit(element.content, one);
      else assert.equal(textProblem(element, one.text), null, `${name}/${one.name}: ${about}`);
    }
  };
  visit(type.content, tree);
  assert.deepEqual(missingIn(type.content, tree), [], about);
}

const opened = (type) => inForm(type, "simple", formTree(type));

test("every combination of a choice and fields is a request of the schema", () => {
  const below = chance(3);
  let number = 0;
  for (const type of types)
    for (const { key } of choicesOf(type)) {
      const all = fieldsOf(queryForm(type, key)).map(({ path }) => path);
      const own = queryForm(type, key).sections[0].fields.map(({ path }) => path);
      const some = times(6, () => [...own, ...all.filter((path) => !own.includes(path) && below(2))]);
      for (const paths of [own, all, ...some]) {
        const tree = filled(type, withChoice(type, opened(type), key), paths);
        check(type, pruned(tree), `${type.name} ${key} ${paths}`);
        assert.equal(choiceIn(type, tree), key, type.name);
        number += 1;
      }
    }
  assert.ok(number > 2000, String(number));
});

test("the form of the schema and the one for people show the same query", () => {
  for (const type of types)
    for (const { key } of choicesOf(type)) {
      const paths = fieldsOf(queryForm(type, key)).map(({ path }) => path);
      const tree = filled(type, withChoice(type, opened(type), key), paths);
      const there = inForm(type, "form", tree);
      const back = inForm(type, "simple", there);

      assert.deepEqual(withoutUnused(back), there, type.name);
      assert.deepEqual(formOf(type, back), queryForm(type, key), type.name);
    }
});

test("another choice removes what the former one asked for, and keeps the rest", () => {
  for (const type of types)
    for (const former of choicesOf(type))
      for (const next of choicesOf(type)) {
        const own = queryForm(type, former.key).sections[0].fields.map(({ path }) => path);
        const tree = filled(type, withChoice(type, opened(type), former.key), own);
        const lines = type.content.parts.some(({ name }) => name === "IncludeRetElement")
          ? [{ name: "IncludeRetElement", text: "Name" }]
          : [];
        const changed = withChoice(type, { ...tree, children: [...tree.children, ...lines] }, next.key);

        assert.equal(choiceIn(type, changed), next.key, `${type.name} ${former.key} ${next.key}`);
        for (const line of lines) assert.ok(changed.children.includes(line));
        const left = pruned(changed).children.map(({ name }) => name);
        const ownNames = queryForm(type, next.key).sections[0].fields.map(({ path }) => path.split("/")[0]);
        assert.deepEqual(
          left.filter((name) => name !== "IncludeRetElement" && !ownNames.includes(name)),
          [],
        );
      }
});

test("a query opens with all objects and a limit, and the queries that people use have a form", () => {
  const labels = (name) => choicesOf(types.find((type) => type.name === name)).map(({ key }) => key);

  assert.deepEqual(labels("CustomerQueryRq"), ["all", "name", "part_of_name", "id", "changed"]);
  assert.deepEqual(labels("InvoiceQueryRq"), ["all", "number", "part_of_number", "id", "dates", "changed"]);
  assert.deepEqual(labels("TransactionQueryRq"), ["all", "number", "part_of_number", "id", "dates", "changed"]);
  for (const type of types) {
    const tree = opened(type);
    assert.equal(choiceIn(type, tree), "all", type.name);
    assert.equal(modesOf(type)[0][0], "simple");
    const limited = elementsIn(type.content).some(({ name }) => name === "MaxReturned");
    assert.deepEqual(
      pruned(tree).children.map(({ name, text }) => [name, text]),
      limited ? [["MaxReturned", "100"]] : [],
    );
  }
  assert.ok(types.length > 60);
});

test("a second value of a field is not hidden from the reader", async () => {
  const { hiddenIn } = await import("../../src/console/lib/form_tree.js");
  const type = types.find(({ name }) => name === "CustomerQueryRq");
  const names = ["Ada", "Bert"].map((text) => ({ name: "FullName", text }));
  const tree = inForm(type, "simple", { name: type.name, children: names });

  assert.deepEqual(
    hiddenIn(
      tree,
      fieldsOf(formOf(type, tree)).map(({ path }) => path),
    ),
    ["FullName"],
  );
});

test("a choice begins with what it cannot do without, and a field with a text tells the choice", () => {
  const type = types.find(({ name }) => name === "CustomerQueryRq");
  const part = withChoice(type, withChoice(type, opened(type), "name"), "part_of_name");
  const leftEmpty = { name: "FullName", text: "" };

  assert.deepEqual(
    pruned(part).children.map(({ name, text, children }) => [name, text ?? children[0].text]),
    [
      ["MaxReturned", "100"],
      ["NameFilter", "Contains"],
    ],
  );
  const children = [leftEmpty, { name: "FromModifiedDate", text: "2026-01-31" }];
  assert.equal(choiceIn(type, { name: type.name, children }), "changed");
  assert.equal(choiceIn(type, { name: type.name, children: [leftEmpty] }), "name");
});

test("a range without a bound is refused in each query, and any other choice is not", () => {
  let ranges = 0;
  for (const type of types)
    for (const { key, combines } of choicesOf(type)) {
      const form = queryForm(type, key);
      const open = withChoice(type, inForm(type, "simple", formTree(type)), key);
      const lacks = (tree) => rangeLacks(type, tree).length;
      assert.equal(lacks(open), combines ? 1 : 0, `${type.name} ${key}`);
      if (!combines) continue;
      ranges += 1;
      for (const { path } of form.sections[0].fields.filter((one) => one.path !== "MaxReturned"))
        assert.equal(lacks(filled(type, open, [path])), 0, `${type.name} ${path}`);
    }
  assert.ok(ranges > 50);
});
