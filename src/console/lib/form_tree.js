// The tree of a request as a form for people fills it in: a node for each field, in the order of the schema. Nodes
// without a text are left out when the request is queued (`pruned` in schema.js). What the form does not show stays in
// the tree.

import { inOrder, namesIn } from "./schema.js";
import { fieldsOf, lineFieldsOf } from "./simple_forms.js";
import { elementsIn, emptyTree, isBlank } from "./trees.js";

const steps = (path) => path.split("/");

/** Returns the nodes from the child of a tree to the end of a path, as far as they exist. */
export function nodesAt(tree, path) {
  const nodes = [];
  let node = tree;
  for (const name of steps(path)) {
    node = node?.children?.find((child) => child.name === name);
    if (node) nodes.push(node);
  }
  return nodes;
}

/** Returns the text at a path, or "". */
export function textAt(tree, path) {
  const nodes = nodesAt(tree, path);
  return nodes.length === steps(path).length ? (nodes.at(-1).text ?? "") : "";
}

/** Returns a tree in which a node has become another one, or is gone. */
export function replaced(tree, former, next) {
  if (tree === former) return next;
  if (!tree.children) return tree;
  const children = tree.children.flatMap((child) => replaced(child, former, next) ?? []);
  return children.length === tree.children.length && children.every((child, n) => child === tree.children[n])
    ? tree
    : { ...tree, children };
}

const childElement = ({ content }, name) => elementsIn(content).find((one) => one.name === name);
const rootElement = (form, type) => childElement(type, form.root);
const lineElement = (form, type) => childElement(rootElement(form, type), form.lines.element);
export const rootOf = (form, tree) => tree.children.find(({ name }) => name === form.root);
export const linesOf = (form, tree) => rootOf(form, tree).children.filter(({ name }) => name === form.lines?.element);

/** Returns the facts of the schema about a form's fields: `{fields, columns}`, each a map from a path to an element. */
export function factsOf(form, type) {
  const root = rootElement(form, type);
  const map = (element, fields) => new Map(fields.map(({ path }) => [path, elementAtPath(element, path)]));
  return {
    fields: map(root, fieldsOf(form)),
    columns: form.lines ? map(lineElement(form, type), lineFieldsOf(form)) : new Map(),
  };
}

/** Returns the element at a path. It is required and exists since a version together with the elements above it. */
function elementAtPath(root, path) {
  let element = root;
  let required = true;
  let since;
  for (const name of steps(path)) {
    const isReference = /Ref$/.test(element.name);
    element = childElement(element, name);
    // A reference without a name is empty, although the schema would allow its ListID.
    required &&= isReference || (element.required && !element.alternative);
    if (element.since && !(Number(since) > Number(element.since))) since = element.since;
  }
  return { ...element, required, since };
}

/** Returns a tree with a node at a path, unless another element of a choice excludes it. */
function opened(element, tree, [name, ...rest]) {
  const own = childElement(element, name);
  let children = tree.children ?? [];
  let node = children.find((child) => child.name === name);
  if (!node) {
    if (isExcluded(element.content, name, children)) return tree;
    node = own.content ? { name, children: [] } : { name, text: "" };
    children = inOrder(element.content, [...children, node]);
  }
  const inside = rest.length ? opened(own, node, rest) : node;
  return { ...tree, children: children.map((child) => (child === node ? inside : child)) };
}

/** Whether an element with a text excludes another one: a group allows only one of them. */
function isExcluded(group, name, children) {
  if (group.kind === "element") return false;
  const own = group.parts.find((part) => namesIn(part).includes(name));
  if (!own) return false;
  const others =
    group.kind === "choice" && !group.repeats ? group.parts.filter((part) => part !== own).flatMap(namesIn) : [];
  return children.some((child) => others.includes(child.name) && !isBlank(child)) || isExcluded(own, name, children);
}

/** Returns a tree with a node for each field of a form, and for those of its lines. */
export function openedTree(form, type, tree) {
  const element = rootElement(form, type);
  const former = rootOf(form, tree);
  let root = fieldsOf(form).reduce(
    (node, { path }) => opened(element, node, steps(path)),
    former?.children ? former : emptyTree(element),
  );
  if (form.lines) root = { ...root, children: inOrder(element.content, openedLines(form, type, root)) };
  return { ...tree, children: inOrder(type.content, [...tree.children.filter((child) => child !== former), root]) };
}

/** Returns a tree without empty nodes, except those with an example: a new form of the schema has them too. */
export function withoutUnused(tree) {
  if (!tree.children) return tree;
  return {
    ...tree,
    children: tree.children.filter((child) => !isBlank(child) || hasExample(child)).map(withoutUnused),
  };
}

const hasExample = ({ example, children = [] }) => Boolean(example) || children.some(hasExample);

/**
 * Returns the children of the root with opened lines. If there are none, one is added, or what the form has in their
 * place.
 */
function openedLines(form, type, { children }) {
  const { element, instead } = form.lines;
  const next = children.map((child) => (child.name === element ? openedLine(form, type, child) : child));
  if (next.some(({ name }) => name === element || name === instead?.path)) return next;
  return [...next, instead ? { name: instead.path, text: "" } : newLine(form, type)];
}

const openedLine = (form, type, line) =>
  lineFieldsOf(form).reduce((tree, { path }) => opened(lineElement(form, type), tree, steps(path)), line);

export const newLine = (form, type) => openedLine(form, type, emptyTree(lineElement(form, type)));

/** Returns a copy of a line: with the same texts, and without what belongs to one line only. */
export function clonedLine(form, type, line) {
  const { name, children } = structuredClone(line);
  return openedLine(form, type, {
    name,
    children: children.filter((child) => !form.lines.unique.includes(child.name)),
  });
}

/** Returns a tree with other lines: `change` gets the children of the root and returns the next ones, in any order. */
export function withChildren(form, type, tree, change) {
  const root = rootOf(form, tree);
  return replaced(tree, root, {
    ...root,
    children: inOrder(rootElement(form, type).content, change(root.children)),
  });
}

/** Returns the names of the elements with a text that a form does not show, as paths: ["ClassRef", "ShipAddress"]. */
export function hiddenIn(tree, paths) {
  const shown = new Set(
    paths.flatMap((path) =>
      steps(path).map((_, n) =>
        steps(path)
          .slice(0, n + 1)
          .join("/"),
      ),
    ),
  );
  // The field of a reference shows its ListID too.
  const leaves = new Set(paths.flatMap((path) => [path, path.replace(/Ref\/FullName$/, "Ref/ListID")]));
  const visit = (node, above) =>
    node.children.flatMap((child) => {
      const path = above ? `${above}/${child.name}` : child.name;
      if (isBlank(child)) return [];
      if (leaves.has(path)) return [];
      return shown.has(path) && child.children ? visit(child, path) : [path];
    });
  return [...new Set(visit(tree, ""))];
}
