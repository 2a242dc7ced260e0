// Random objects as QuickBooks returns them, random edits of them in the form of a change, and what QuickBooks makes
// of a change.
import { CHANGES, editedOf } from "../../src/console/lib/changes.js";
import { linesOf, newLine, nodesAt, replaced, rootOf, withChildren } from "../../src/console/lib/form_tree.js";
import { fieldsOf, lineFieldsOf } from "../../src/console/lib/simple_forms.js";
import { elementsIn } from "../../src/console/lib/trees.js";
import { times } from "./support.mjs";

const SAMPLES = {
  AMTTYPE: ["12.50", "-3.00", "0.00"],
  PRICETYPE: ["12.5", "7"],
  QUANTYPE: ["2", "-1.5"],
  PERCENTTYPE: ["10"],
  FLOATTYPE: ["1.1"],
  DATETYPE: ["2026-02-28", "2026-03-01"],
  BOOLTYPE: ["true", "false"],
  INTTYPE: ["1"],
  IDTYPE: ["80000001-1", "8000002B-9"],
};
const TEXTS = ["A & B <c>", "Zoë", "0042", "42", "10", "10.00", '"q"', "N"];

const sampler = (below) => (element) => {
  const found = element.values ?? SAMPLES[element.base] ?? TEXTS;
  return found[below(found.length)].slice(0, element.length ?? 99);
};

/** Returns a random object as QuickBooks returns it, with elements that a change cannot have. */
export function randomObject(type, below) {
  const { form } = CHANGES[type.name];
  const root = elementsIn(type.content).find(({ name }) => name === form.root);
  const text = sampler(below);
  let lines = 0;
  const parts = (content) =>
    content.parts.flatMap((part) => {
      if (part.kind === "choice")
        return part.repeats
          ? times(1 + below(4), () => made(part.parts[below(part.parts.length)])).flat()
          : parts({ parts: [part.parts[below(part.parts.length)]] });
      if (part.kind === "sequence") return parts(part);
      if (part.repeats && !/Line/.test(part.name)) return [];
      return part.required || below(2) ? times(part.repeats ? below(3) : 1, () => made(part)).flat() : [];
    });
  const made = (element) => {
    const name = element.name.replace(/(Line(?:Group)?)Mod$/, "$1Ret");
    if (element.name === "TxnLineID") return [{ name, text: `L${(lines += 1)}` }];
    if (/Ref$/.test(name))
      return [
        {
          name,
          children: [
            { name: "ListID", text: `8000${below(99)}-1` },
            { name: "FullName", text: TEXTS[below(TEXTS.length)] },
          ],
        },
      ];
    if (!element.content) return [{ name, text: text(element) }];
    const children = parts(element.content);
    return children.length ? [{ name, children }] : [];
  };
  const children = parts(root.content).concat({ name: "Balance", text: "97.50" });
  return { name: form.root.replace(/Mod$/, "Ret"), children };
}

/** Returns a form in which some fields have another text, or none, and some lines are new or gone. */
export function randomEdit(type, base, below) {
  const { form, needed } = CHANGES[type.name];
  const text = sampler(below);
  const elementAt = (element, [name, ...others]) => {
    const found = elementsIn(element.content).find((one) => one.name === name);
    return others.length ? elementAt(found, others) : found;
  };
  let tree = editedOf(type, base, { name: type.name, attributes: {}, children: [] });
  const enter = (at, parent, path, mayClear) => {
    const node = nodesAt(at, path).at(-1);
    const element = elementAt(parent, path.split("/"));
    if (node?.name !== path.split("/").at(-1) || below(4)) return;
    const next = mayClear && element.base !== "BOOLTYPE" && !below(3) ? "" : text(element);
    tree = replaced(tree, node, { ...node, text: next });
  };
  const root = elementAt(type, [form.root]);
  for (const { path } of fieldsOf(form)) enter(rootOf(form, tree), root, path, !needed.has(path.split("/")[0]));
  if (!form.lines || !linesOf(form, tree).length) return tree;
  for (const n of linesOf(form, tree).keys())
    for (const { path } of lineFieldsOf(form))
      enter(linesOf(form, tree)[n], elementAt(root, [form.lines.element]), path, path !== "ItemRef/FullName");
  if (!below(3) && linesOf(form, tree).length > 1) {
    const gone = linesOf(form, tree)[0];
    tree = withChildren(form, type, tree, (children) => children.filter((one) => one !== gone));
  }
  if (!below(3)) {
    tree = withChildren(form, type, tree, (children) => [...children, newLine(form, type)]);
    enter(linesOf(form, tree).at(-1), elementAt(root, [form.lines.element]), "Desc", false);
  }
  return tree;
}

// --- QuickBooks --------------------------------------------------------------------------------------------------

export const isLine = ({ name }) => /Line(Group)?Mod$/.test(name);
export const idOf = (line) => line.children.find(({ name }) => name === "TxnLineID")?.text;
export const isEmpty = ({ text, children }) => (children ? children.every(isEmpty) : !text);

/**
 * Returns what QuickBooks makes of an object: an element that is left out stays, an empty one clears, an address is
 * replaced, and lines that are not named are removed.
 */
export function applied(base, change) {
  const fields = new Map(base.filter((one) => !isLine(one)).map((one) => [one.name, one]));
  for (const field of change.filter((one) => !isLine(one)))
    if (!["ListID", "TxnID", "EditSequence", "TxnLineID"].includes(field.name)) fields.set(field.name, field);
  const lines = base.filter(isLine);
  const named = change.filter(isLine);
  const next = named.length
    ? named.map((line) => {
        const former = lines.find((one) => idOf(one) === idOf(line));
        const children = line.children.filter(({ name }) => name !== "TxnLineID");
        return { name: line.name, children: applied(former?.children ?? [], children) };
      })
    : lines.map((line) => ({ name: line.name, children: applied(line.children, []) }));
  return [...fields.values(), ...next];
}
