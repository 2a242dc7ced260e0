// The forms for people of queries. One table yields the form of every type: a type has the choices and the fields that
// are in its schema. What excludes what is said by the schema too.

import { excludes, openedTree, replaced, nodesAt, textAt } from "./form_tree.js";
import { elementsIn } from "./trees.js";

/**
 * @import { RequestType } from "./schema.js"
 * @import { FormField, SimpleForm } from "./simple_forms.js"
 * @import { Tree } from "./trees.js"
 * @typedef {Omit<FormField, "path"> & {paths: string[]}} Row A field, and its places in the types that have it.
 * @typedef {{key: string, label: string, combines?: boolean, rows: Row[]}} Choice `combines`: its fields can narrow the
 *   result of another choice.
 */

const MATCH = { label: "Match", initial: "Contains" };
const LOCAL = "In the time of the QuickBooks computer. The time is optional: a date alone means its";

/** @type {Choice[]} */
const CHOICES = [
  { key: "all", label: "All", rows: [] },
  {
    key: "name",
    label: "By full name",
    rows: [
      {
        paths: ["FullName", "Name"],
        label: "Full name",
        wide: true,
        help: "As QuickBooks shows it, with the names above it: Harbor Street Bakery:Kitchen. If it is empty, all are read.",
      },
    ],
  },
  {
    key: "part_of_name",
    label: "By part of the name",
    rows: [
      { paths: ["NameFilter/MatchCriterion"], ...MATCH },
      { paths: ["NameFilter/Name"], label: "Name" },
    ],
  },
  {
    key: "number",
    label: "By number",
    rows: [
      {
        paths: ["RefNumber"],
        label: "Number",
        wide: true,
        help: "As it is on the document. If it is empty, all are read.",
      },
    ],
  },
  {
    key: "part_of_number",
    label: "By part of the number",
    rows: [
      { paths: ["RefNumberFilter/MatchCriterion"], ...MATCH },
      { paths: ["RefNumberFilter/RefNumber"], label: "Number" },
    ],
  },
  {
    key: "id",
    label: "By ID",
    rows: [{ paths: ["ListID", "TxnID"], label: "ID", wide: true, help: "If it is empty, all are read." }],
  },
  {
    key: "dates",
    label: "By date",
    combines: true,
    rows: [
      { paths: within(["TxnDateRangeFilter", "TransactionDateRangeFilter"], "FromTxnDate"), label: "From" },
      { paths: within(["TxnDateRangeFilter", "TransactionDateRangeFilter"], "ToTxnDate"), label: "To, inclusive" },
    ],
  },
  {
    key: "changed",
    label: "Changed since",
    combines: true,
    rows: [
      { paths: changed("FromModifiedDate"), label: "Changed since", help: `${LOCAL} beginning.` },
      { paths: changed("ToModifiedDate"), label: "Changed until", isEnd: true, help: `${LOCAL} end.` },
    ],
  },
];

const LIMIT = {
  paths: ["MaxReturned"],
  label: "At most",
  initial: "100",
  help: "MaxReturned: QuickBooks returns no more than this number at once.",
};

/** Who the transactions of a type are for. */
const PARTIES = [
  [/^(Invoice|SalesOrder|SalesReceipt|Estimate|CreditMemo|ReceivePayment|Charge)QueryRq$/, "Customer"],
  [/^(Bill|BillPaymentCheck|BillPaymentCreditCard|VendorCredit|PurchaseOrder|ItemReceipt)QueryRq$/, "Vendor"],
  [/./, "Customer, vendor or other name"],
];

/** @type {(type: RequestType) => Row[]} */
const rest = (type) => [
  {
    paths: within(["EntityFilter", "TransactionEntityFilter", "TimeTrackingEntityFilter"], "FullName"),
    label: String(PARTIES.find(([names]) => /** @type {RegExp} */ (names).test(type.name))?.[1]),
    help: "The full name in QuickBooks.",
  },
  { paths: within(["AccountFilter", "TransactionAccountFilter"], "FullName"), label: "Account" },
  { paths: within(["ItemFilter", "TransactionItemFilter"], "FullName"), label: "Item" },
  { paths: ["ActiveStatus"], label: "Active", help: "Without a choice, QuickBooks returns active ones only." },
  { paths: ["PaidStatus", "TransactionPaidStatusFilter"], label: "Paid" },
  {
    paths: ["IncludeLineItems", "IncludeComponentLineItems"],
    label: "With lines",
    help: "Without a choice, QuickBooks returns no lines.",
  },
  { paths: ["IncludeLinkedTxns"], label: "With linked transactions", help: "Such as the payments of an invoice." },
  { paths: ["OwnerID"], label: "With custom fields", help: "0 returns the custom fields that people see." },
];

/** @type {(filters: string[], name: string) => string[]} */
function within(filters, name) {
  return filters.map((filter) => `${filter}/${name}`);
}

/** @type {(name: string) => string[]} */
function changed(name) {
  return [name, ...within(["ModifiedDateRangeFilter", "TransactionModifiedDateRangeFilter"], name)];
}

/** @param {string} path */
const top = (path) => path.split("/")[0];

/**
 * Returns the fields of rows that a type has.
 *
 * @param {RequestType} type
 * @param {Row[]} rows
 * @returns {FormField[]}
 */
const fieldsIn = (type, rows) =>
  rows.flatMap(({ paths, ...facts }) => {
    const path = paths.find((one) => isIn(type, one.split("/")));
    return path ? [{ path, ...facts }] : [];
  });

/** @type {(element: {content?: RequestType["content"]}, names: string[]) => boolean} */
function isIn({ content }, [name, ...others]) {
  const found = content && elementsIn(content).find((one) => one.name === name);
  return Boolean(found) && (!others.length || isIn(/** @type {any} */ (found), others));
}

/**
 * Returns the choices of a query: `[{key, label}]`. A type that offers none has no form for people, such as a report.
 *
 * @param {RequestType} type
 */
export function choicesOf(type) {
  const found = type.name.endsWith("QueryRq") ? CHOICES.filter(({ rows }) => fieldsIn(type, rows).length) : [];
  return found.length ? [CHOICES[0], ...found] : [];
}

/**
 * Returns the key of the choice that a tree has made: the first one with a text, or else with an open field.
 *
 * @param {RequestType} type
 * @param {Tree} tree
 */
export function choiceIn(type, tree) {
  const choices = choicesOf(type);
  /** @type {(test: (path: string) => unknown) => Choice | undefined} */
  const first = (test) => choices.find(({ rows }) => fieldsIn(type, rows).some(({ path }) => test(path)));
  const isOpen = (/** @type {string} */ path) => nodesAt(tree, path).length === path.split("/").length;
  return (first((path) => textAt(tree, path)) ?? first(isOpen) ?? CHOICES[0]).key;
}

/**
 * Returns the form of a query for a choice, or null. It has no field that the schema excludes with one of the choice.
 *
 * @param {RequestType} type
 * @param {string} key
 * @returns {SimpleForm | null}
 */
export function queryForm(type, key) {
  const choices = choicesOf(type);
  const choice = choices.find((one) => one.key === key) ?? choices[0];
  if (!choice) return null;
  /** @type {(chosen: FormField[], field: FormField) => boolean} */
  const fits = (chosen, { path }) => !chosen.some((one) => excludes(type.content, top(path), top(one.path)));
  const own = fieldsIn(type, choice.rows);
  const others = own.length && !choice.combines ? choices.filter(({ combines }) => combines) : [];
  const limited = [...own, ...fieldsIn(type, [LIMIT]).filter((field) => fits(own, field))];
  /** @type {FormField[]} */
  const more = [];
  for (const field of fieldsIn(type, [...others.flatMap(({ rows }) => rows), ...rest(type)]))
    if (fits([...limited, ...more], field)) more.push(field);
  return {
    sections: [
      { title: "Search", fields: limited },
      { title: "More", isClosed: true, fields: more },
    ],
  };
}

/**
 * Returns what the choice of a range lacks: without a bound, QuickBooks would return all.
 *
 * @param {RequestType} type
 * @param {Tree} tree
 * @returns {{element: Tree, message: string, isMissing: true}[]}
 */
export function rangeLacks(type, tree) {
  const key = choiceIn(type, tree);
  const choice = choicesOf(type).find((one) => one.key === key);
  if (!choice?.combines) return [];
  const bounds = fieldsIn(type, choice.rows);
  if (bounds.some(({ path }) => textAt(tree, path))) return [];
  const names = bounds.map(({ label }) => `“${label}”`).join(" or ");
  const element = nodesAt(tree, bounds[0].path).at(-1) ?? tree;
  return [{ element, message: `Enter ${names}. To read all, choose “All”.`, isMissing: true }];
}

/**
 * Returns a tree for another choice: without what other choices have set, and without what the new one excludes.
 *
 * @param {RequestType} type
 * @param {Tree} tree
 * @param {string} key
 * @returns {Tree}
 */
export function withChoice(type, tree, key) {
  const form = queryForm(type, key);
  if (!form) return tree;
  const own = form.sections[0].fields;
  const former = new Set(choicesOf(type).flatMap(({ rows }) => fieldsIn(type, rows).map(({ path }) => top(path))));
  const kept = (tree.children ?? []).filter(
    ({ name }) => !former.has(name) && !own.some(({ path }) => excludes(type.content, top(path), name)),
  );
  const opened = openedTree(form, type, { ...tree, children: kept });
  return own.reduce((/** @type {Tree} */ next, { path, initial = "" }) => {
    const node = nodesAt(next, path).at(-1);
    return node?.text ? next : replaced(next, node, { ...node, name: path.split("/").at(-1) ?? "", text: initial });
  }, opened);
}
