// Changes of a customer and of an invoice: what a person reads from QuickBooks, edits, and sends. A change names only
// what differs, because QuickBooks keeps the rest. It has the EditSequence that was read, so QuickBooks refuses it if
// the object has changed meanwhile.

import { openedTree } from "./form_tree.js";
import { cents, decimal, product } from "./money.js";
import { inOrder } from "./schema.js";
import { fieldsOf, SIMPLE_FORMS } from "./simple_forms.js";
import { elementsIn } from "./trees.js";
import { isLine } from "./write_fields.js";

/**
 * @import { Element, RequestType } from "./schema.js"
 * @import { FormField, SimpleForm } from "./simple_forms.js"
 * @import { Tree } from "./trees.js"
 * @typedef {object} ChangeForm
 * @property {SimpleForm} form
 * @property {string} id The element that names the object.
 * @property {string} query The request that reads it.
 * @property {Record<string, string>} [with] What the query asks for besides.
 * @property {FormField} by How a person names it.
 * @property {string} noun
 * @property {Set<string>} needed The fields that QuickBooks does not clear.
 */

/** A line that is new. */
const NEW = "-1";
const ID = "TxnLineID";
/** What makes up the price of a line. QuickBooks computes one from the others, so they are sent together. */
const PRICE = ["Quantity", "Rate", "Amount"];

/** @type {(added: SimpleForm, root: string) => SimpleForm} */
const changing = (added, root) => ({
  ...added,
  root,
  sections: added.sections.map((section) => ({
    ...section,
    fields: section.fields.map(({ path, label, wide, offers }) => ({ path, label, wide, offers })),
  })),
  ...(added.lines
    ? { lines: { ...added.lines, element: `${root.replace(/Mod$/, "")}LineMod`, unique: [...added.lines.unique, ID] } }
    : {}),
  // The kinds of the items that were read are not known, so neither is what their lines add up to.
  totals: undefined,
});

/** @type {Record<string, ChangeForm>} */
export const CHANGES = {
  CustomerModRq: {
    form: changing(SIMPLE_FORMS.CustomerAddRq, "CustomerMod"),
    id: "ListID",
    noun: "customer",
    query: "CustomerQueryRq",
    by: { path: "FullName", label: "Full name of the customer", offers: "customers" },
    needed: new Set(["Name"]),
  },
  InvoiceModRq: {
    form: changing(SIMPLE_FORMS.InvoiceAddRq, "InvoiceMod"),
    id: "TxnID",
    noun: "invoice",
    query: "InvoiceQueryRq",
    with: { IncludeLineItems: "true" },
    by: { path: "RefNumber", label: "Number of the invoice" },
    needed: new Set(["CustomerRef", "TxnDate"]),
  },
};

/** What names an object or a line, and its state. */
const KEYS = new Set(["ListID", "TxnID", "EditSequence", ID]);

/** @type {(tree: Tree | undefined, name: string) => Tree | undefined} */
const child = (tree, name) => tree?.children?.find((one) => one.name === name);
/** @type {(tree: Tree | undefined, name: string) => string} */
const textOf = (tree, name) => child(tree, name)?.text ?? "";
/** @type {(tree: Tree) => boolean} */
const isReference = ({ name }) => name.endsWith("Ref");
/** @type {(name: string, text?: string) => Tree} */
const leaf = (name, text = "") => ({ name, text });
/** @type {(tree: Tree) => Tree} */
const copy = ({ name, text }) => leaf(name, text);
/** @type {(tree: Tree) => Tree} */
const sent = (tree) => ({ ...copy(tree), origin: tree });

/**
 * Returns the query that reads an object: by its id if a change names it, or by what a person has entered.
 *
 * @param {ChangeForm} change
 * @param {Tree} tree The change so far.
 * @param {string} entered
 */
export function readingQuery({ form, id, query, by, with: more = {} }, tree, entered) {
  const known = textOf(child(tree, form.root ?? ""), id);
  return { [query]: { ...(known ? { [id]: known } : { [by.path]: entered }), ...more } };
}

/**
 * Returns an empty change of the object with this id.
 *
 * @param {RequestType} type
 * @param {string} object
 * @returns {Tree}
 */
export function changeOfObject(type, object) {
  const { form, id } = CHANGES[type.name];
  return { name: type.name, children: [{ name: form.root ?? "", children: [leaf(id, object)] }] };
}

/**
 * Returns an object that was read as the change form shows it: with the elements that a change can have. Of those that
 * occur several times, only lines can be changed here.
 *
 * @param {RequestType} type
 * @param {Tree} object `CustomerRet` or `InvoiceRet`, as a tree.
 * @returns {Tree}
 */
export function baseOf(type, object) {
  const root = rootIn(type);
  return inSchemaOrder(root, { name: root.name, children: shared(root, object) });
}

/** @param {RequestType} type */
function rootIn(type) {
  const name = CHANGES[type.name].form.root;
  const root = elementsIn(type.content).find((one) => one.name === name);
  if (!root) throw new Error(`The schema does not have ${name}.`);
  return root;
}

/** @type {(element: Element, tree: Tree) => Tree} */
function inSchemaOrder({ content }, tree) {
  if (!content || !tree.children) return tree;
  const known = new Map(elementsIn(content).map((one) => [one.name, one]));
  const children = inOrder(content, tree.children).map((one) => {
    const element = known.get(one.name);
    return element ? inSchemaOrder(element, one) : one;
  });
  return { ...tree, children };
}

/**
 * @param {Element} element
 * @param {Tree} object
 * @returns {Tree[]}
 */
function shared({ content }, object) {
  if (!content) return [];
  const known = new Map(elementsIn(content).map((one) => [one.name, one]));
  return (object.children ?? []).flatMap((one) => {
    const name = isLine(one) ? one.name.replace(/Ret$/, "Mod") : one.name;
    const element = known.get(name);
    if (!element || (!isLine(one) && element.repeats)) return [];
    if (!one.children) return isComputed(object, name) ? [] : [leaf(name, one.text)];
    return [{ name, children: isReference(one) ? [copy(namedIn(one))] : shared(element, one) }];
  });
}

/** Whether QuickBooks computes a field from others: the amount of a line with a rate. */
const isComputed = (/** @type {Tree} */ line, /** @type {string} */ name) =>
  isLine(line) && name === "Amount" && Boolean(child(line, "Rate"));

/** Returns what names the object of a reference: its name for people, or else its id. An empty name clears it. */
const namedIn = (/** @type {Tree | undefined} */ reference) => {
  const [name, id] = [child(reference, "FullName"), child(reference, "ListID")];
  return (id?.text && !name?.text ? id : name) ?? leaf("FullName");
};

/** Returns what names the object of a reference in a request. If it has both, QuickBooks uses the id. */
const meantBy = (/** @type {Tree | undefined} */ reference) =>
  textOf(reference, "ListID") ? leaf("ListID", textOf(reference, "ListID")) : namedIn(reference);

/**
 * Returns the request of the form: an object with the changes of an earlier request. `read` is the object for which the
 * request was made, if that is known. A value that the request repeats from `read` is not a change. A line of `read`
 * that the request does not name was removed. All other lines stay, because they may be new.
 *
 * @param {RequestType} type
 * @param {Tree} base
 * @param {Tree} earlier
 * @param {Tree} [read]
 */
export function editedOf(type, base, earlier, read) {
  const { form } = CHANGES[type.name];
  const former = child(earlier, base.name);
  const changes = read ? unlike(read, former?.children ?? []) : (former?.children ?? []);
  const changed = { ...base, children: withChanges(base.children ?? [], changes, read) };
  const others = (earlier.children ?? []).filter((one) => one !== former);
  return openedTree(form, type, { ...earlier, children: [inSchemaOrder(rootIn(type), changed), ...others] });
}

/** @type {(tree: Tree | undefined, line: Tree) => Tree | undefined} */
const lineIn = (tree, line) => tree?.children?.find((one) => isLine(one) && textOf(one, ID) === textOf(line, ID));
/** @type {(tree: Tree | undefined, one: Tree) => Tree | undefined} */
const formerIn = (tree, one) => (isLine(one) ? lineIn(tree, one) : child(tree, one.name));

/**
 * Returns the children of a change without what they repeat: a change has all parts of a price and of an address.
 * With another amount, the price stays whole.
 *
 * @param {Tree | undefined} read
 * @param {Tree[]} children
 * @returns {Tree[]}
 */
function unlike(read, children) {
  const hasAmount = children.some((one) => one.name === "Amount" && one.text && !isSame(formerIn(read, one), one));
  return children.flatMap((one) => {
    if (KEYS.has(one.name) || (hasAmount && PRICE.includes(one.name))) return [one];
    const former = formerIn(read, one);
    if (!isLine(one) && isSame(former, one)) return [];
    const isWhole = !one.children || isReference(one);
    return [isWhole ? one : { ...one, children: unlike(former, one.children ?? []) }];
  });
}

/**
 * Returns the children of an object with changes. `read` is what the changes were made for, if that is known.
 *
 * @param {Tree[]} children
 * @param {Tree[]} changes
 * @param {Tree | undefined} read
 * @returns {Tree[]}
 */
function withChanges(children, changes, read) {
  const named = changes.filter(isLine);
  const isNamed = (/** @type {Tree} */ line) => named.some((one) => textOf(one, ID) === textOf(line, ID));
  const isLeft = (/** @type {Tree} */ line) => !named.length || isNamed(line) || !lineIn(read, line);
  const lines = children.filter(isLine).filter(isLeft);
  const fields = changes.filter((one) => !isLine(one) && !KEYS.has(one.name));
  /** @type {(former: Tree | undefined, change: Tree) => Tree} */
  const merged = (former, change) =>
    change.children && !isReference(change)
      ? { ...change, children: withChanges(former?.children ?? [], change.children, formerIn(read, change)) }
      : change;
  return [
    ...children.filter((one) => !isLine(one) && !fields.some(({ name }) => name === one.name)),
    ...fields.map((field) => merged(child({ name: "", children }, field.name), field)),
    ...lines.map((line) => {
      const change = named.find((one) => textOf(one, ID) === textOf(line, ID));
      return change ? merged(withoutRate(line, change), change) : line;
    }),
    ...named.filter((line) => textOf(line, ID) === NEW),
  ];
}

/** Without the rate of a line, if a change has an amount in its place: QuickBooks computes the rate. */
const withoutRate = (/** @type {Tree} */ line, /** @type {Tree} */ change) =>
  textOf(change, "Amount") && !child(change, "Rate")
    ? { ...line, children: line.children?.filter(({ name }) => name !== "Rate") }
    : line;

/**
 * Returns the change that makes an object as a person has edited it. Its elements lead back to those of the form by
 * `origin`. Without differences, it names only the object.
 *
 * @param {string} name
 * @param {Tree} base
 * @param {Tree} edited The request of the form.
 * @returns {Tree}
 */
export function changeRequest(name, base, edited) {
  const { form, id } = CHANGES[name];
  const root = child(edited, form.root ?? "");
  const content = [
    leaf(id, textOf(base, id)),
    leaf("EditSequence", textOf(base, "EditSequence")),
    ...(root?.children ?? []).filter((one) => !isLine(one)).flatMap((one) => difference(child(base, one.name), one)),
    ...lineChanges((base.children ?? []).filter(isLine), (root?.children ?? []).filter(isLine)),
  ];
  return {
    name,
    ...(edited.attributes ? { attributes: edited.attributes } : {}),
    children: [{ name: base.name, children: content }, ...(edited.children ?? []).filter((one) => one !== root)],
  };
}

/**
 * Returns an object that was read under the name of a response, to be compared with a change.
 *
 * @param {Tree} base
 * @returns {Tree}
 */
export const objectOfChange = ({ name, children }) => ({ name: name.replace(/Mod$/, "Ret"), children });

/**
 * Returns the texts that name an object that was read: its full name or its number, and whose it is. Both can be empty.
 *
 * @param {Tree} base
 */
export function namesOf(base) {
  const parent = textOf(child(base, "ParentRef"), "FullName");
  const name = [parent, textOf(base, "Name")].filter(Boolean).join(":");
  return { name: name || textOf(base, "RefNumber"), party: textOf(child(base, "CustomerRef"), "FullName") };
}

/**
 * Whether a change changes something.
 *
 * @param {Tree} request
 */
export const isChange = (request) => (request.children ?? []).some(({ children = [] }) => children.some(isContent));
const isContent = (/** @type {Tree} */ { name }) => !KEYS.has(name);

/**
 * Returns an element of a change, or nothing if it is as it was. The parts of an address go together, because
 * QuickBooks may clear those that are left out.
 *
 * @param {Tree | undefined} former
 * @param {Tree} next
 * @returns {Tree[]}
 */
function difference(former, next) {
  if (KEYS.has(next.name) || isSame(former, next)) return [];
  if (!next.children) return [sent(next)];
  if (isReference(next)) return [{ name: next.name, children: [sent(meantBy(next))], origin: next }];
  const parts = next.children.filter((part) => part.text || textOf(former, part.name));
  return [{ name: next.name, children: parts.map(sent), origin: next }];
}

/**
 * Whether an element of the form has the value that was read. An element that was not read is empty.
 *
 * @param {Tree | undefined} former
 * @param {Tree} next
 * @returns {boolean}
 */
function isSame(former, next) {
  if (!next.children) return (next.text ?? "") === (former?.text ?? "");
  if (isReference(next)) {
    const [before, after] = [meantBy(former), meantBy(next)];
    return isSame(before, after) && (before.name === after.name || !after.text);
  }
  return next.children.every((part) => isSame(child(former, part.name), part));
}

/**
 * Returns the lines of a change: all of them if one differs, because QuickBooks removes those that are not named. A
 * line that stays has its id only.
 *
 * @param {Tree[]} former
 * @param {Tree[]} next
 * @returns {Tree[]}
 */
function lineChanges(former, next) {
  const byId = (/** @type {Tree} */ line) => former.find((one) => textOf(one, ID) === textOf(line, ID));
  const filled = next.filter((line) => byId(line) || !isBlankLine(line));
  const lines = filled.map((line) => lineChange(byId(line), line));
  const isAsBefore = former.length === filled.length && filled.every((line, n) => byId(line) === former[n]);
  return isAsBefore && lines.every(isKept) ? [] : lines;
}

/** @type {(line: Tree) => boolean} */
const isBlankLine = ({ children = [] }) => children.every((one) => one.name === ID || isEmpty(one));
/** @type {(tree: Tree) => boolean} */
const isEmpty = ({ text, children }) => (children ? children.every(isEmpty) : !text);
/** @type {(line: Tree) => boolean} */
const isKept = ({ children = [] }) => children.every((one) => one.name === ID || (isLine(one) && isKept(one)));

/**
 * @param {Tree | undefined} former
 * @param {Tree} line
 * @returns {Tree}
 */
function lineChange(former, line) {
  const parts = (line.children ?? []).filter((part) => part.name !== ID);
  const isPriced = PRICE.some((name) => !isSame(child(former, name), child(line, name) ?? leaf(name)));
  const changed = parts.flatMap((part) => {
    if (isLine(part))
      return [
        lineChange(
          (former?.children ?? []).find((one) => textOf(one, ID) === textOf(part, ID)),
          part,
        ),
      ];
    if (PRICE.includes(part.name)) return isPriced ? priced(line, part, former) : [];
    return difference(child(former, part.name), part);
  });
  return { name: line.name, children: [leaf(ID, former ? textOf(line, ID) : NEW), ...changed], origin: line };
}

/**
 * Returns a part of the price of a line. QuickBooks computes the rate from an amount without a rate.
 *
 * @param {Tree} line
 * @param {Tree} part
 * @param {Tree | undefined} former
 * @returns {Tree[]}
 */
function priced(line, part, former) {
  const isLeftOut = part.name === "Rate" && !part.text && Boolean(textOf(line, "Amount"));
  const isThere = part.text || textOf(former, part.name);
  return isThere && !isLeftOut ? [sent(part)] : [];
}

/**
 * Returns what is wrong with an edited object, at the elements of the form: `[{element, message}]`.
 *
 * @param {string} name
 * @param {Tree} base
 * @param {Tree} edited
 * @returns {{element: Tree | undefined, message: string}[]}
 */
export function changeProblems(name, base, edited) {
  const { form, needed } = CHANGES[name];
  const root = child(edited, form.root ?? "");
  const lines = (root?.children ?? []).filter(isLine);
  const empty = fieldsOf(form).flatMap(({ path, label }) => {
    const top = path.split("/")[0];
    const element = child(root, top);
    return needed.has(top) && element && isEmpty(element)
      ? [{ element, message: `${label} cannot be empty: QuickBooks needs it.` }]
      : [];
  });
  if (empty.length) return empty;
  const request = changeRequest(name, base, edited);
  const hasLines = (base.children ?? []).some(isLine);
  if (hasLines && lines.every(isBlankLine))
    return [{ element: lines[0], message: "An invoice keeps at least one line. To cancel it, void or delete it." }];
  if (!isChange(request)) return [{ element: undefined, message: "Nothing is changed yet." }];
  return lines.filter(isContradictory).map((element) => ({ element, message: CONTRADICTION }));
}

const CONTRADICTION = "The amount is not the quantity times the rate. Clear the amount or the rate.";

/** Whether the parts of a price do not agree. An object that was read has only one of rate and amount in the form. */
function isContradictory(/** @type {Tree} */ line) {
  const [quantity, rate, amount] = PRICE.map((name) => decimal(textOf(line, name)));
  if (!rate || !amount) return false;
  return cents(quantity ? product(quantity, rate) : rate) !== cents(amount);
}
