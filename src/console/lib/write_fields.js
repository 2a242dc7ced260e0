// The fields and lines of a write as a table, and what it changes in the object that is in the books.
import { decimal } from "./money.js";
import { ofMember } from "./request_json.js";
import { requestTitle } from "./text.js";

/**
 * @import { Tree } from "./trees.js"
 * @typedef {object} Leaf A field: its place, its name for people, and its text.
 * @property {string} key `CustomerRef`, or `BillAddress/City`. Repeated elements have numbers: `Contacts#2/Name`.
 * @property {string} label
 * @property {string} text
 * @property {string} [later] The place of its value in the response to another request, which has not ended.
 * @property {Tree} tree
 * @typedef {{before: string, after: string, isChanged: boolean, later?: string}} Change
 * @typedef {{key: string, label: string, isNumber: boolean}} Column
 * @typedef {"added" | "changed" | "kept" | "removed"} Kind
 * @typedef {{kind: Kind, cells: Map<string, Change>}} Row
 * @typedef {{title: string, columns: Column[], rows: Row[]}} Lines
 * @typedef {{fields: (Change & {key: string, label: string})[], lines: Lines[]}} Difference
 */

const LINE = /(Line(Group)?|AppliedToTxn)(Add|Mod|Ret)?$/;
const NUMBER = /^-?[\d,]*\.?\d+%?$/;
/** Elements that QuickBooks needs, and that tell people nothing. */
const TECHNICAL = new Set(["TxnLineID", "EditSequence"]);
/** The ids of an object. The sentence about a change has them. */
const IDS = new Set(["ListID", "TxnID"]);

const TITLES = {
  TxnDate: "Date",
  RefNumber: "Number",
  Desc: "Description",
  TxnID: "Transaction",
  Addr1: "Line 1",
  Addr2: "Line 2",
  Addr3: "Line 3",
  Addr4: "Line 4",
  Addr5: "Line 5",
  PONumber: "Purchase order",
  EntityRef: "Name",
  PayeeEntityRef: "Payee",
  ARAccountRef: "Receivable account",
  APAccountRef: "Payable account",
};

/**
 * @param {Tree} tree
 * @returns {boolean}
 */
export const isLine = ({ name, children }) => LINE.test(name) && Boolean(children);

/**
 * Returns the element with the fields of a write, or the request itself if it has none.
 *
 * @param {Tree} tree
 */
export const contentOf = (tree) =>
  tree.children?.find(({ name, children }) => children && `${name}Rq` === tree.name) ?? tree;

/**
 * Returns the name of an element for people: "CustomerRef" → "Customer", "BillAddress" → "Bill address".
 *
 * @param {string} name
 */
export const fieldTitle = (name) => TITLES[name] ?? requestTitle(name.replace(/(.)Ref$/, "$1"));

/**
 * Returns the changes that the service has found as a table.
 *
 * @param {{field: string, old: string | null, new: string}[]} changes
 * @returns {Difference}
 */
export const changesTable = (changes) => ({
  fields: changes.map(({ field, old, new: after }) => ({
    key: field,
    label: labelOf(field.split("/").map(fieldTitle)),
    before: old ?? "",
    after,
    isChanged: true,
  })),
  lines: [],
});

/**
 * Returns the name of a field within others.
 *
 * @param {string[]} titles
 */
const labelOf = ([first, ...others]) =>
  [first, ...others.map((own) => `${own[0].toLowerCase()}${own.slice(1)}`)].join(", ");

/** @param {Tree} tree */
const isReference = ({ name, children }) =>
  name.endsWith("Ref") &&
  Boolean(children?.length) &&
  children?.every((child) => ["FullName", "ListID"].includes(child.name));

/**
 * Returns the text of a reference: the name or the id, or both if a write names both. They may be of two objects.
 *
 * @param {Tree} reference
 */
export function referenceText(reference, { inBooks = false } = {}) {
  const texts = new Map(reference.children?.map(({ name, text }) => [name, text]));
  const [name, id] = [texts.get("FullName") ?? "", texts.get("ListID") ?? ""];
  return name && id && !inBooks ? `${name} (${id})` : name || id;
}

/**
 * Returns the fields of an element, with those of its parts. Lines are left out unless `withLines`.
 *
 * @param {Tree} element
 * @param {{withLines?: boolean, path?: string, above?: string, inBooks?: boolean}} options
 * @returns {Leaf[]}
 */
export function leavesOf(element, options = {}) {
  const { withLines = false, path = "", above = "", inBooks = element.name.endsWith("Ret") } = options;
  /** @type {Map<string, number>} */
  const numbers = new Map();
  const isObject = element.children?.some(({ name }) => name === "EditSequence");
  return (element.children ?? []).flatMap((child) => {
    if (!path && (TECHNICAL.has(child.name) || (isObject && IDS.has(child.name)))) return [];
    if (!withLines && isLine(child)) return [];
    const number = (numbers.get(child.name) ?? 0) + 1;
    numbers.set(child.name, number);
    const key = `${path}${child.name}${number > 1 ? `#${number}` : ""}`;
    const own = `${fieldTitle(child.name)}${number > 1 ? ` ${number}` : ""}`;
    const label = labelOf(above ? [above, own] : [own]);
    if (child.children?.length && !isReference(child))
      return leavesOf(child, { withLines, path: `${key}/`, above: label, inBooks });
    const text = child.children ? referenceText(child, { inBooks }) : (child.text ?? "");
    const later = child.later ?? child.children?.find((part) => part.later)?.later;
    return [{ key, label, text, later, tree: child }];
  });
}

/** The text that the API shows in place of a value that it does not know yet. */
const LATER = /^\{"\$from": "[0-9a-f-]{36}", "path": "([^"]+)"\}$/;

/**
 * Returns a tree with the values marked that come from other requests.
 *
 * @param {Tree} tree
 * @returns {Tree}
 */
export function withLater(tree) {
  if (tree.children) return { ...tree, children: tree.children.map(withLater) };
  const later = LATER.exec(tree.text ?? "")?.[1];
  return later ? { ...tree, text: "", later } : tree;
}

/**
 * Returns what a write adds, or a change sets, as a difference without an object.
 *
 * @param {Tree} content
 */
export const tableOf = (content) => differenceOf(content, null);

/**
 * Returns the lines of an object, with the fields by which a person knows them.
 *
 * @param {Tree} object
 * @returns {Lines[]}
 */
export const shortLines = (object) =>
  tableOf(object).lines.map((some) => ({ ...some, columns: some.columns.filter(({ key }) => COPIED.test(key)) }));

/**
 * Returns all contents of an object, as what was before.
 *
 * @param {Tree} object
 * @returns {Difference}
 */
export function objectTable(object) {
  const { fields, lines } = tableOf(object);
  const former = (/** @type {Change} */ { after }) => ({ before: after, after: "", isChanged: true });
  return {
    fields: fields.map((field) => ({ ...field, ...former(field) })),
    lines: lines.map((some) => ({
      ...some,
      rows: some.rows.map(({ cells }) => ({
        kind: "removed",
        cells: new Map([...cells].map(([key, cell]) => [key, former(cell)])),
      })),
    })),
  };
}

/**
 * Returns what a write makes of an object. Without one, everything is new.
 *
 * @param {Tree} content
 * @param {Tree | null} object
 * @returns {Difference}
 */
export function differenceOf(content, object) {
  const former = new Map(object ? leavesOf(object).map((leaf) => [leaf.key, leaf]) : []);
  const fields = leavesOf(content).map((leaf) => ({
    key: leaf.key,
    label: leaf.label,
    ...changeOf(leaf, former.get(leaf.key)),
  }));
  return { fields, lines: linesOf(content, object) };
}

/**
 * @param {Leaf} leaf
 * @param {Leaf | undefined} former
 * @returns {Change}
 */
function changeOf(leaf, former) {
  const before = former?.text ?? "";
  const isSame = !leaf.later && Boolean(former) && (isSameReference(leaf, former) || isSameText(leaf.text, before));
  const isEmpty = !former && leaf.text === "" && !leaf.later;
  return {
    before,
    after: isSame ? before : leaf.text,
    isChanged: !isSame && !isEmpty,
    ...(leaf.later ? { later: leaf.later } : {}),
  };
}

/**
 * Whether a reference names the same object as the former one, by id or by name.
 *
 * @param {Leaf} leaf
 * @param {Leaf | undefined} former
 */
function isSameReference({ tree }, former) {
  const names = tree.children ?? [];
  const known = new Map(former?.tree.children?.map(({ name, text }) => [name, text]));
  return (
    names.length > 0 && names.every(({ name, text }) => known.has(name) && isSameText(text ?? "", known.get(name)))
  );
}

/** A number of an object, or a postal code: 0042 is not 42. */
const LEADING_ZERO = /^[+-]?0\d/;

/**
 * Whether two texts have the same value: 10 and 10.00, true and TRUE.
 *
 * @param {string} one
 * @param {string | undefined} other
 */
export function isSameText(one, other = "") {
  if (one.trim() === other.trim()) return true;
  if (/^(true|false)$/i.test(one)) return one.toLowerCase() === other.toLowerCase();
  if (LEADING_ZERO.test(one.trim()) || LEADING_ZERO.test(other.trim())) return false;
  const [first, second] = [decimal(one), decimal(other)];
  if (!first || !second) return false;
  return first.units * 10n ** BigInt(second.places) === second.units * 10n ** BigInt(first.places);
}

// --- Lines -------------------------------------------------------------------------------------------------------

/** The kind of a line: `InvoiceLine` for `InvoiceLineMod`, `InvoiceLineGroupRet` and the like. */
const kindOf = (/** @type {string} */ name) =>
  name
    .replace(/(Add|Mod|Ret)$/, "")
    .replace(/Group$/, "")
    .replace(/^Journal(Debit|Credit)/, "Journal");

/** @param {Tree} line */
const idOf = ({ children }) =>
  children?.find(({ name }) => name === "TxnLineID")?.text ?? children?.find(({ name }) => name === "TxnID")?.text;

/**
 * QuickBooks removes the lines of an object that a change with lines of their kind does not name.
 *
 * @param {Tree} content
 * @param {Tree | null} object
 * @returns {Lines[]}
 */
function linesOf(content, object) {
  const named = (content.children ?? []).filter(isLine);
  const former = (object?.children ?? []).filter(isLine);
  return [...new Set(named.map(({ name }) => kindOf(name)))].map((kind) => {
    const isOfKind = (/** @type {Tree} */ { name }) => kindOf(name) === kind;
    const own = named.filter(isOfKind);
    const ids = new Set(own.map(idOf));
    const gone = former.filter((line) => isOfKind(line) && !ids.has(idOf(line)));
    return table(kind, [
      ...own.map((line) =>
        rowOf(
          line,
          former.find((one) => idOf(line) !== undefined && idOf(one) === idOf(line)),
        ),
      ),
      ...gone.map((line) => removed(line)),
    ]);
  });
}

/** @typedef {{kind: Kind, leaves: (Change & {key: string, label: string})[]}} Named */

/**
 * @param {Tree} line
 * @param {Tree | undefined} former
 * @returns {Named}
 */
function rowOf(line, former) {
  const known = new Map(former ? leavesOf(former, { withLines: true }).map((leaf) => [leaf.key, leaf]) : []);
  const leaves = leavesOf(line, { withLines: true }).map((leaf) => ({
    key: leaf.key,
    label: leaf.label,
    ...changeOf(leaf, known.get(leaf.key)),
  }));
  // A line that is kept as it is names only its id.
  for (const leaf of known.values())
    if (!leaves.some(({ key }) => key === leaf.key) && COPIED.test(leaf.key))
      leaves.push({ key: leaf.key, label: leaf.label, before: leaf.text, after: leaf.text, isChanged: false });
  return { kind: !former ? "added" : leaves.some(({ isChanged }) => isChanged) ? "changed" : "kept", leaves };
}

/** The fields by which a person knows a line. */
const COPIED = /^(ItemRef|ItemGroupRef|AccountRef|Desc|Quantity|Rate|Cost|Amount|PaymentAmount|TxnID|RefNumber)$/;

/**
 * @param {Tree} line
 * @returns {Named}
 */
const removed = (line) => ({
  kind: "removed",
  leaves: leavesOf(line, { withLines: true })
    .filter(({ key }) => COPIED.test(key))
    .map(({ key, label, text }) => ({ key, label, before: text, after: "", isChanged: true })),
});

/**
 * @param {string} kind
 * @param {Named[]} rows
 * @returns {Lines}
 */
function table(kind, rows) {
  /** @type {Map<string, Column>} */
  const columns = new Map();
  for (const { leaves } of rows)
    for (const { key, label, before, after } of leaves) {
      const isNumber = [before, after].every((text) => !text || NUMBER.test(text));
      const known = columns.get(key);
      columns.set(key, { key, label, isNumber: isNumber && (known?.isNumber ?? true) });
    }
  return {
    title: kind === "InvoiceLine" ? "Lines" : `${requestTitle(kind)}s`,
    columns: [...columns.values()],
    rows: rows.map((row) => ({ kind: row.kind, cells: new Map(row.leaves.map((leaf) => [leaf.key, leaf])) })),
  };
}

/**
 * Returns the object of a response, as a tree, or null if QuickBooks has not returned one.
 *
 * @param {[string, any[]][]} results What `resultsOf` returns.
 */
export function objectOf(results) {
  const [found] = results.filter(([name]) => name !== "ReportRet");
  return found ? ofMember(found[0], found[1][0]) : null;
}
