import assert from "node:assert/strict";
import { before, test } from "node:test";

import { purposeOf } from "../../src/console/lib/choice_texts.js";
import { inForm } from "../../src/console/lib/request_draft.js";
import { fromJson, shortForm, toJson } from "../../src/console/lib/request_json.js";
import { inOrder, namesIn, requestNames, requestType, textProblem } from "../../src/console/lib/schema.js";
import { SIMPLE_FORMS } from "../../src/console/lib/simple_forms.js";
import { elementsIn, exampleTree, formTree, isBlank, missingIn, pruned } from "../../src/console/lib/trees.js";
import { chance, times } from "./support.mjs";

test("a comma before decimals is told to be a point, and nothing else is", () => {
  const below = chance(5);
  for (let n = 0; n < 2000; n += 1) {
    const whole = String(below(1e6));
    const decimals = String(below(10 ** (1 + below(5))));
    const problem = textProblem({ name: "Rate", base: "PRICETYPE" }, `${whole},${decimals}`);
    if (decimals.length === 3) assert.match(problem, /^Not a price/);
    else assert.equal(problem, `Write a point before the decimals: ${whole}.${decimals}.`);
    assert.equal(textProblem({ name: "Rate", base: "PRICETYPE" }, `${whole}.${decimals}`), null);
    assert.doesNotMatch(textProblem({ name: "Count", base: "INTTYPE" }, `${whole},${decimals}`), /point/);
    for (const more of [{}, { most: 1000 }]) {
      const amount = { name: "Amount", base: "AMTTYPE", ...more };
      const [, advice] = textProblem(amount, `${whole},${decimals}`).match(/^Write a point.*: (.*)\.$/) ?? [];
      if (advice) assert.equal(textProblem(amount, advice), null);
      else assert.match(textProblem(amount, `${whole},${decimals}`), /^Not an amount/);
    }
  }
});

let types;

before(async () => {
  types = await Promise.all((await requestNames()).map(requestType));
  assert.ok(types.length > 200);
});

const leavesOf = (tree) => tree.children?.flatMap(leavesOf) ?? [tree];

test("no form opens with a text, except the limit of a query", () => {
  for (const type of types) {
    const filled = leavesOf(formTree(type)).filter(({ text }) => text);

    const limit = type.name.endsWith("QueryRq") && filled.length ? [["MaxReturned", "100"]] : [];
    assert.deepEqual(
      filled.map(({ name, text }) => [name, text]),
      limit,
      type.name,
    );
  }
});

test("the example of every request lacks nothing, is in order, and has texts that the schema allows", () => {
  const check = (group, { name, children }) => {
    assert.deepEqual(inOrder(group, children), children, name);
    const elements = new Map(elementsIn(group).map((element) => [element.name, element]));
    for (const child of children) {
      const element = elements.get(child.name);
      if (child.children) check(element.content, child);
      else assert.equal(textProblem(element, child.text), null, `${name}/${child.name}`);
    }
  };
  for (const type of types) {
    const example = exampleTree(type);

    assert.deepEqual(missingIn(type.content, example), [], type.name);
    check(type.content, example);
  }
});

test("a form that a person has not filled in is queued without its empty elements", () => {
  for (const type of types) {
    const left = pruned(formTree(type)).children ?? [];

    assert.ok(
      left.every((child) => !isBlank(child)),
      type.name,
    );
  }
});

test("both forms of JSON hold every request, with its version", () => {
  const bare = ({ name, text, children }) => (children ? { name, children: children.map(bare) } : { name, text });
  for (const type of types) {
    const example = exampleTree(type);
    for (const form of [shortForm(example, "13.0"), toJson(example, "13.0")]) {
      const { tree, version } = fromJson(JSON.stringify(form));

      assert.deepEqual(bare(tree), bare(example), type.name);
      assert.equal(version, "13.0");
    }
  }
});

test("JSON keeps the order of elements, also of the same name between others", () => {
  const below = chance(11);
  const element = (depth) => {
    const name = "ABC"[below(3)];
    return depth && below(2) ? { name, children: times(1 + below(4), () => element(depth - 1)) } : { name, text: "x" };
  };
  for (let n = 0; n < 500; n += 1) {
    const tree = { name: "AnyRq", attributes: {}, children: times(1 + below(5), () => element(2)) };

    assert.deepEqual(fromJson(JSON.stringify(shortForm(tree))).tree, tree);
  }
});

test("a version in JSON is a text or a number", () => {
  const read = (version) => fromJson(JSON.stringify({ version, CompanyQueryRq: {} })).version;

  assert.deepEqual(["16.0", 13, 2.1, null, undefined].map(read), ["16.0", "13.0", "2.1", undefined, undefined]);
  for (const version of [true, {}, ["13.0"]]) assert.throws(() => read(version), /^Error: The version must be a text/);
});

test("every choice of the schema says what it is for", () => {
  const choices = (part) => {
    if (part.kind === "element") return part.content ? choices(part.content) : [];
    const inside = part.parts.flatMap(choices);
    return part.kind === "choice" && !part.repeats ? [namesIn(part), ...inside] : inside;
  };
  const all = types.flatMap(({ content }) => choices(content));

  assert.ok(all.length >= 100);
  assert.deepEqual(
    all.filter((names) => !purposeOf(names)).map((names) => names.join(" ")),
    [],
  );
});

test("a form for people keeps what it does not show, and adds no text", () => {
  for (const [name, form] of Object.entries(SIMPLE_FORMS)) {
    const type = types.find((one) => one.name === name);
    const example = exampleTree(type);

    const opened = inForm(type, "simple", example);

    const texts = (tree) =>
      leavesOf(tree)
        .filter(({ text }) => text)
        .map((leaf) => `${leaf.name}=${leaf.text}`);
    assert.deepEqual(texts(opened).sort(), texts(example).sort(), name);
    assert.ok(opened.children.some((child) => child.name === form.root));
  }
});
