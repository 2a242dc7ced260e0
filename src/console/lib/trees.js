// Request trees: `{name, attributes, text | children}`. Empty ones, examples, and what a form lacks.
import { BASES, namesIn } from "./schema.js";

/**
 * @import { Element, Group, Part, RequestType } from "./schema.js"
 * @typedef {object} Tree It has a text or children.
 * @property {string} name
 * @property {Record<string, string>} [attributes]
 * @property {string} [text]
 * @property {Tree[]} [children]
 * @property {string} [example] The placeholder of an empty field.
 * @property {string} [later] The place of its value in the response to another request, which has not ended.
 * @property {Tree} [origin] The element of the form that this one was made of.
 */

/**
 * Returns a new tree of an element with its required elements.
 *
 * @param {Element} element
 * @returns {Tree}
 */
export function emptyTree(element) {
  return element.content
    ? { name: element.name, children: emptyChildren(element.content) }
    : { name: element.name, text: "" };
}

/**
 * @param {Group} group
 * @returns {Tree[]}
 */
export function emptyChildren(group) {
  if (group.kind === "choice") return group.required && group.parts.length ? emptyPart(group.parts[0]) : [];
  return group.parts.flatMap((part) => (part.required ? emptyPart(part) : []));
}

/** The fields that people fill in first in a line or an address. A rate or a cost makes the amount. */
const USUAL = new Set([
  "ItemRef",
  "ItemGroupRef",
  "AccountRef",
  "Desc",
  "Quantity",
  "Rate",
  "Cost",
  "TxnID",
  "PaymentAmount",
  "Addr1",
  "City",
  "State",
  "PostalCode",
  "FullName",
]);

const HAS_USUAL = /Line(Group)?(Add|Mod)?$|^AppliedToTxn(Add|Mod)$|Address$|Ref$/;

/**
 * Returns a new tree of an element that a person adds to a form: with its required and its usual elements.
 *
 * @param {Element} element
 * @returns {Tree}
 */
export function newTree(element) {
  if (!element.content) return emptyTree(element);
  if (!HAS_USUAL.test(element.name)) return emptyTree(element);
  const names = new Set(namesIn(element.content));
  const usual = new Set([...names].filter((name) => USUAL.has(name)));
  if (names.has("Amount") && !usual.has("Rate") && !usual.has("Cost")) usual.add("Amount");
  return { name: element.name, children: usualChildren(element.content, usual) };
}

/**
 * @param {Part} part
 * @param {Set<string>} usual
 * @returns {Tree[]}
 */
function usualChildren(part, usual) {
  if (part.kind === "element")
    return (part.required && !part.alternative) || usual.has(part.name) ? [newTree(part)] : [];
  const isUsual = (/** @type {Part} */ one) => namesIn(one).some((name) => usual.has(name));
  if (!isUsual(part)) return part.required && !part.alternative ? emptyChildren(part) : [];
  return part.kind === "choice"
    ? part.parts
        .filter(isUsual)
        .slice(0, 1)
        .flatMap((one) => usualChildren(one, usual))
    : part.parts.flatMap((one) => usualChildren(one, usual));
}

/** @param {Part} part */
export const emptyPart = (part) => (part.kind === "element" ? [emptyTree(part)] : emptyChildren(part));

/** @type {Record<string, string>} */
const SAMPLES = {
  FullName: "Example",
  Name: "Example",
  MaxReturned: "100",
  EditSequence: "1700000000",
  TxnID: "1A2B-1700000000",
  RefNumber: "1001",
  Email: "books@example.com",
  Phone: "555-0100",
  City: "Middletown",
  State: "CA",
  PostalCode: "94001",
};

/**
 * Useful optional elements of common types, with sample texts.
 *
 * @type {Record<string, Starter>}
 */
const STARTERS = {
  InvoiceAddRq: {
    InvoiceAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      TxnDate: "2026-01-31",
      RefNumber: "1001",
      InvoiceLineAdd: {
        ItemRef: { FullName: "Consulting" },
        Desc: "One hour of work",
        Quantity: "1",
        Rate: "97.50",
      },
    },
  },
  SalesReceiptAddRq: {
    SalesReceiptAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      SalesReceiptLineAdd: { ItemRef: { FullName: "Consulting" }, Quantity: "1", Rate: "97.50" },
    },
  },
  EstimateAddRq: {
    EstimateAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      EstimateLineAdd: { ItemRef: { FullName: "Consulting" }, Quantity: "1" },
    },
  },
  SalesOrderAddRq: {
    SalesOrderAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      SalesOrderLineAdd: { ItemRef: { FullName: "Consulting" }, Quantity: "1" },
    },
  },
  BillAddRq: {
    BillAdd: {
      VendorRef: { FullName: "Millbrook Supplies" },
      ExpenseLineAdd: { AccountRef: { FullName: "Office Supplies" }, Amount: "97.50" },
    },
  },
  CustomerAddRq: {
    CustomerAdd: { Name: "Harbor Street Bakery", CompanyName: "Harbor Street Bakery", Email: "books@example.com" },
  },
  VendorAddRq: { VendorAdd: { Name: "Millbrook Supplies" } },
  ReceivePaymentAddRq: {
    ReceivePaymentAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      TotalAmount: "97.50",
      IsAutoApply: "true",
    },
  },
  JournalEntryAddRq: {
    JournalEntryAdd: {
      JournalDebitLine: { AccountRef: { FullName: "Office Supplies" }, Amount: "97.50" },
      JournalCreditLine: { AccountRef: { FullName: "Checking" }, Amount: "97.50" },
    },
  },
};

/**
 * Returns an example of a request type that the service accepts.
 *
 * @param {RequestType} type
 * @returns {Tree}
 */
export function exampleTree(type) {
  const children = sampled(emptyChildren(type.content), type.content);
  const starter = STARTERS[type.name];
  const tree = { name: type.name, attributes: {}, children };
  if (starter) tree.children = fromStarter(starter);
  else if (type.name.endsWith("QueryRq") && namesIn(type.content).includes("MaxReturned"))
    tree.children = [{ name: "MaxReturned", text: "100" }];
  return tree;
}

/**
 * Returns the form that a request type opens with: the fields of its example, which becomes a placeholder. Nothing is
 * filled in that could reach the books. The limit of a query stays, because a response can be too large without one.
 *
 * @param {RequestType} type
 */
export function formTree(type) {
  const isLimit = (/** @type {{name: string}} */ { name }) => name === "MaxReturned" && type.name.endsWith("QueryRq");
  /** @type {(tree: Tree) => Tree} */
  const emptied = ({ text, children, ...node }) =>
    children
      ? { ...node, children: children.map(emptied) }
      : isLimit(node)
        ? { ...node, text }
        : { ...node, text: "", example: text };
  return emptied(exampleTree(type));
}

/**
 * @typedef {{[name: string]: string | Starter}} Starter
 * @param {Starter} facts
 * @returns {Tree[]}
 */
const fromStarter = (facts) =>
  Object.entries(facts).map(([name, value]) =>
    typeof value === "string" ? { name, text: value } : { name, children: fromStarter(value) },
  );

/**
 * @param {Tree[]} children
 * @param {Group} group
 * @returns {Tree[]}
 */
function sampled(children, group) {
  const elements = new Map(elementsIn(group).map((element) => [element.name, element]));
  return children.map((child) => {
    const element = elements.get(child.name);
    if (!element) return child;
    if (element.content) {
      const inside = child.children?.length ? child.children : emptyPart(firstPart(element.content));
      return { ...child, children: sampled(inside, element.content) };
    }
    return { ...child, text: sampleText(element) };
  });
}

/**
 * For a reference without required children (`CustomerRef`), the full name is the best example.
 *
 * @param {Group} content
 */
function firstPart(content) {
  return elementsIn(content).find(({ name }) => name === "FullName") ?? content.parts[0];
}

/**
 * @param {Part} part
 * @returns {Element[]}
 */
export const elementsIn = (part) => (part.kind === "element" ? [part] : part.parts.flatMap(elementsIn));

/** @param {Element} element */
function sampleText(element) {
  if (element.values) return element.values[0];
  const text = SAMPLES[element.name] ?? BASES[element.base ?? ""]?.sample ?? "Example";
  return element.length ? text.slice(0, element.length) : text;
}

/**
 * Returns a tree without empty fields, which were added to a form and not filled in. `origin` leads back to the form's
 * tree.
 *
 * @param {Tree} tree
 * @returns {Tree}
 */
export function pruned(tree) {
  if (!tree.children) return { ...tree, origin: tree };
  const children = tree.children.map(pruned).filter((child) => !isBlank(child));
  return { ...tree, children, origin: tree };
}

/**
 * Whether a tree has no text.
 *
 * @param {Tree} tree
 * @returns {boolean}
 */
export const isBlank = (tree) =>
  tree.children ? !Object.keys(tree.attributes ?? {}).length && tree.children.every(isBlank) : tree.text === "";

/**
 * Whether a tree has an element without text. In a change, it clears a field; a form would leave it out.
 *
 * @param {Tree} tree
 * @returns {boolean}
 */
export const hasBlanks = (tree) => tree.children?.some((child) => isBlank(child) || hasBlanks(child)) ?? false;

/**
 * Returns the element of a form that a JSON pointer of the service means: `/request/children/0/text` of the pruned
 * tree.
 *
 * @param {Tree} tree
 * @param {string} pointer
 */
export function elementAt(tree, pointer) {
  let node = tree;
  for (const [, position] of pointer.matchAll(/\/children\/(\d+)/g)) node = node.children?.[Number(position)] ?? node;
  return node.origin;
}

/**
 * Returns what a form lacks, with the element of the tree at which it is shown.
 *
 * @param {Group} group
 * @param {Tree} tree
 * @returns {{element: Tree, message: string, isMissing: true}[]}
 */
export function missingIn(group, tree) {
  const children = tree.children ?? [];
  if (group.kind === "choice") {
    const used = group.parts.find((part) =>
      children.some((child) => namesIn(part).includes(child.name) && !isBlank(child)),
    );
    if (used?.kind === "element") return missingInside(used, tree);
    if (used) return missingIn(used, tree);
    const blank = children.find(({ name }) => namesIn(group).includes(name));
    return group.required && !group.alternative
      ? [{ element: blank ?? tree, message: `Fill in one of ${listed(namesIn(group))}.`, isMissing: true }]
      : [];
  }
  return group.parts.flatMap((part) => {
    if (part.kind !== "element")
      return !part.required &&
        namesIn(part).every((name) => !children.some((child) => child.name === name && !isBlank(child)))
        ? []
        : missingIn(part, tree);
    const found = children.filter(({ name }) => name === part.name);
    const filled = found.filter((child) => !isBlank(child));
    if (filled.length || !part.required) return missingInside(part, { ...tree, children: filled });
    const inside = found.length && part.content ? missingIn(part.content, found[0]) : [];
    return inside.length
      ? inside
      : [{ element: found[0] ?? tree, message: `${part.name} is required.`, isMissing: true }];
  });
}

/**
 * @param {Element} part
 * @param {Tree} tree
 */
function missingInside({ name, content }, { children = [] }) {
  const filled = children.filter((child) => child.name === name && !isBlank(child));
  return content ? filled.flatMap((child) => missingIn(content, child)) : [];
}

/** @param {string[]} names */
const listed = (names) =>
  names.length > 4
    ? `${names.slice(0, 3).join(", ")} or ${names.length - 3} others`
    : names.join(", ").replace(/, ([^,]*)$/, " or $1");
