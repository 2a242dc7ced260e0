// The tree of a request as a form for people fills it in: a node for each field, in the order of the schema. Nodes
// without a text are left out when the request is queued (`pruned` in trees.js). What the form does not show stays in
// the tree.

import { inOrder, namesIn } from "./schema.js";
import { fieldsOf, lineFieldsOf } from "./simple_forms.js";
import { elementsIn, emptyTree, isBlank } from "./trees.js";

/**
 * @import { Element, Part, RequestType } from "./schema.js"
 * @import { SimpleForm } from "./simple_forms.js"
 * @import { Tree } from "./trees.js"
 */

/** @param {string} path */
const steps = (path) => path.split("/");

/**
 * Returns the nodes from the child of a tree to the end of a path, as far as they exist.
 *
 * @param {Tree | undefined} tree
 * @param {string} path
 */
export function nodesAt(tree, path) {
  const nodes = [];
  let node = tree;
  for (const name of steps(path)) {
    node = node?.children?.find((child) => child.name === name);
    if (node) nodes.push(node);
  }
  return nodes;
}

/**
 * Returns the text at a path, or "".
 *
 * @param {Tree} tree
 * @param {string} path
 */
export function textAt(tree, path) {
  const nodes = nodesAt(tree, path);
  return nodes.length === steps(path).length ? (nodes.at(-1)?.text ?? "") : "";
}

/**
 * Returns a tree in which a node has become another one, or is gone.
 *
 * @template {Tree | null} Next
 * @param {Tree} tree
 * @param {Tree | undefined} former
 * @param {Next} next
 * @returns {Tree | Next}
 */
export function replaced(tree, former, next) {
  if (tree === former) return next;
  const { children: all } = tree;
  if (!all) return tree;
  const children = all.flatMap((child) => replaced(child, former, next) ?? []);
  return children.length === all.length && children.every((child, n) => child === all[n])
    ? tree
    : { ...tree, children };
}

/**
 * Returns an element of the content of another one. The forms name only elements that the schema has.
 *
 * @param {Element | RequestType} parent
 * @param {string} name
 */
function childElement({ content }, name) {
  const found = content && elementsIn(content).find((one) => one.name === name);
  if (!found) throw new Error(`The schema does not have ${name} here.`);
  return found;
}

/**
 * The form of a query has no root: its fields are in the request itself.
 *
 * @type {(form: SimpleForm, type: RequestType) => Element | RequestType}
 */
const rootElement = (form, type) => (form.root ? childElement(type, form.root) : type);
/** @type {(form: SimpleForm, type: RequestType) => Element} */
const lineElement = (form, type) => childElement(rootElement(form, type), form.lines?.element ?? "");
/** @type {(form: SimpleForm, tree: Tree) => Tree | undefined} */
export const rootOf = (form, tree) => (form.root ? tree.children?.find(({ name }) => name === form.root) : tree);
/** @type {(form: SimpleForm, tree: Tree) => Tree[]} */
export const linesOf = (form, tree) =>
  rootOf(form, tree)?.children?.filter(({ name }) => name === form.lines?.element) ?? [];

/**
 * Returns the facts of the schema about a form's fields: `{fields, columns}`, each a map from a path to an element.
 *
 * @param {SimpleForm} form
 * @param {RequestType} type
 */
export function factsOf(form, type) {
  const root = rootElement(form, type);
  /** @type {(element: Element | RequestType, fields: {path: string}[]) => Map<string, Element>} */
  const map = (element, fields) => new Map(fields.map(({ path }) => [path, elementAtPath(element, path)]));
  return {
    fields: map(root, fieldsOf(form)),
    columns: form.lines ? map(lineElement(form, type), lineFieldsOf(form)) : new Map(),
  };
}

/**
 * Returns the element at a path. It is required and exists since a version together with the elements above it.
 *
 * @param {Element | RequestType} root
 * @param {string} path
 * @returns {Element}
 */
function elementAtPath(root, path) {
  /** @type {any} */
  let element = root;
  let required = true;
  /** @type {string | undefined} */
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

/**
 * Returns a tree with a node at a path, unless another element of a choice excludes it.
 *
 * @param {Element | RequestType} element
 * @param {Tree} tree
 * @param {string[]} path
 * @returns {Tree}
 */
function opened(element, tree, [name, ...rest]) {
  const own = childElement(element, name);
  let children = tree.children ?? [];
  let node = children.find((child) => child.name === name);
  if (!node) {
    if (isExcluded(element.content, name, children)) return tree;
    node = own.content ? { name, children: [] } : { name, text: "" };
    children = ordered(element, [...children, node]);
  }
  const inside = rest.length ? opened(own, node, rest) : node;
  return { ...tree, children: children.map((child) => (child === node ? inside : child)) };
}

/** @type {(parent: Element | RequestType, children: Tree[]) => Tree[]} */
const ordered = ({ content }, children) => (content ? inOrder(content, children) : children);

/**
 * Whether an element with a text excludes another one: a group allows only one of them.
 *
 * @param {Part | undefined} group
 * @param {string} name
 * @param {Tree[]} children
 * @returns {boolean}
 */
function isExcluded(group, name, children) {
  if (!group || group.kind === "element") return false;
  const own = group.parts.find((part) => namesIn(part).includes(name));
  if (!own) return false;
  const others =
    group.kind === "choice" && !group.repeats ? group.parts.filter((part) => part !== own).flatMap(namesIn) : [];
  return children.some((child) => others.includes(child.name) && !isBlank(child)) || isExcluded(own, name, children);
}

/**
 * Whether a group allows only one of two elements.
 *
 * @param {Part} group
 * @param {string} name
 * @param {string} other
 */
export const excludes = (group, name, other) => isExcluded(group, name, [{ name: other, text: "…" }]);

/**
 * Returns a tree with a node for each field of a form, and for those of its lines.
 *
 * @param {SimpleForm} form
 * @param {RequestType} type
 * @param {Tree} tree
 * @returns {Tree}
 */
export function openedTree(form, type, tree) {
  const element = rootElement(form, type);
  const former = rootOf(form, tree);
  let root = fieldsOf(form).reduce(
    (node, { path }) => opened(element, node, steps(path)),
    former?.children ? former : emptyTree(/** @type {Element} */ (element)),
  );
  if (!form.root) return root;
  if (form.lines) root = { ...root, children: ordered(element, openedLines(form, type, root)) };
  const others = (tree.children ?? []).filter((child) => child !== former);
  return { ...tree, children: ordered(type, [...others, root]) };
}

/**
 * Returns a tree without empty nodes, except those with an example: a new form of the schema has them too.
 *
 * @param {Tree} tree
 * @returns {Tree}
 */
export function withoutUnused(tree) {
  if (!tree.children) return tree;
  return {
    ...tree,
    children: tree.children.filter((child) => !isBlank(child) || hasExample(child)).map(withoutUnused),
  };
}

/** @type {(tree: Tree) => boolean} */
const hasExample = ({ example, children = [] }) => Boolean(example) || children.some(hasExample);

/**
 * Returns the children of the root with opened lines. If there are none, one is added, or what the form has in their
 * place.
 *
 * @param {SimpleForm} form
 * @param {RequestType} type
 * @param {Tree} root
 * @returns {Tree[]}
 */
function openedLines(form, type, { children = [] }) {
  const { element, instead } = form.lines ?? {};
  const next = children.map((child) => (child.name === element ? openedLine(form, type, child) : child));
  if (next.some(({ name }) => name === element || name === instead?.path)) return next;
  return [...next, instead ? { name: instead.path, text: "" } : newLine(form, type)];
}

/** @type {(form: SimpleForm, type: RequestType, line: Tree) => Tree} */
const openedLine = (form, type, line) =>
  lineFieldsOf(form).reduce((tree, { path }) => opened(lineElement(form, type), tree, steps(path)), line);

/** @type {(form: SimpleForm, type: RequestType) => Tree} */
export const newLine = (form, type) => openedLine(form, type, emptyTree(lineElement(form, type)));

/**
 * Returns a copy of a line: with the same texts, and without what belongs to one line only.
 *
 * @param {SimpleForm} form
 * @param {RequestType} type
 * @param {Tree} line
 */
export function clonedLine(form, type, line) {
  const { name, children = [] } = structuredClone(line);
  return openedLine(form, type, {
    name,
    children: children.filter((child) => !form.lines?.unique.includes(child.name)),
  });
}

/**
 * Returns a tree with other lines: `change` gets the children of the root and returns the next ones, in any order.
 *
 * @param {SimpleForm} form
 * @param {RequestType} type
 * @param {Tree} tree
 * @param {(children: Tree[]) => Tree[]} change
 */
export function withChildren(form, type, tree, change) {
  const root = rootOf(form, tree);
  if (!root) return tree;
  return replaced(tree, root, { ...root, children: ordered(rootElement(form, type), change(root.children ?? [])) });
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
      // Only the first of several values has a field. Lines have all theirs.
      if (leaves.has(path))
        return child.children || node.children.find(({ name }) => name === child.name) === child ? [] : [path];
      return shown.has(path) && child.children ? visit(child, path) : [path];
    });
  return [...new Set(visit(tree, ""))];
}
