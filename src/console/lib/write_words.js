// What a write does, in words: "Adds the invoice 1042 for Acme, 3 lines, total 248.50".
import { cents, decimal, moneyText, product } from "./money.js";
import { nounOf, partsOf, plural, requestTitle } from "./text.js";
import { contentOf, fieldTitle, isLine, leavesOf, referenceText } from "./write_fields.js";

/**
 * @import { Tree } from "./trees.js"
 * @typedef {string | {value: string}} Word A text of ours, or a text of the request.
 */

const VERBS = { Add: "Adds", Mod: "Changes", Del: "Deletes", Void: "Voids" };

/** The elements that name the other side of a write, and how a sentence names it. */
const PARTIES = [
  ["EntityRef", "for"],
  ["CustomerRef", "for"],
  ["VendorRef", "from"],
  ["PayeeEntityRef", "to"],
  ["EmployeeRef", "for"],
];
const PREPOSITIONS = { ReceivePayment: "from", PurchaseOrder: "to" };

/** Lines whose amounts make up a total. Other ones change it by an amount that the request may not tell. */
const PRICED = new Set([
  ...["Invoice", "Estimate", "SalesOrder", "SalesReceipt", "CreditMemo", "PurchaseOrder"].map((one) => `${one}LineAdd`),
  ...[
    "ExpenseLineAdd",
    "ItemLineAdd",
    "DepositLineAdd",
    "JournalDebitLine",
    "AppliedToTxnAdd",
    "RefundAppliedToTxnAdd",
  ],
]);

const IF_EXISTS = { return: [", unless it exists"], update: [", or changes it if it exists"] };

const MAX_FIELDS = 4;

/**
 * Returns what a write does, as words of ours and of the request.
 *
 * @param {Tree} tree
 * @param {string} [ifExists] `if_exists` of its record.
 * @returns {Word[]}
 */
export function sentenceOf(tree, ifExists = "fail") {
  const { verb, subject } = partsOf(tree);
  const content = contentOf(tree);
  if (verb === "Merge") return mergeOf(tree, subject);
  if (!verb || !VERBS[verb]) return [`Executes ${requestTitle(tree.name)}`];
  // The name in a change is the new one, and does not tell which object it changes.
  const name = verb === "Add" ? nameOf(content) : idOf(content);
  const noun = nounOf(subject);
  const start = name
    ? [`${VERBS[verb]} the ${noun} `, { value: name }]
    : [`${VERBS[verb]} ${/^[aeio]/i.test(noun) ? "an" : "a"} ${noun}`];
  return [
    ...start,
    ...(verb === "Add" ? [...partyOf(content, subject), ...sumsOf(content)] : []),
    ...(verb === "Mod" ? changedIn(content) : []),
    ...(IF_EXISTS[ifExists] ?? []),
  ];
}

/**
 * Returns the sentence as one text.
 *
 * @param {Word[]} words
 */
export const plain = (words) => words.map((word) => (typeof word === "string" ? word : word.value)).join("");

/**
 * @param {Tree} tree
 * @param {string} subject
 * @returns {Word[]}
 */
function mergeOf(tree, subject) {
  const [from, to] = ["MergeFrom", "MergeTo"].map((name) => idOf(childOf(contentOf(tree), name) ?? tree));
  return [`Merges the ${nounOf(subject)} `, { value: from }, " into ", { value: to }, ", and deletes the first"];
}

/**
 * @param {Tree} tree
 * @param {string} name
 */
const childOf = (tree, name) => tree.children?.find((child) => child.name === name);

/**
 * @param {Tree} tree
 * @param {string} name
 */
const textOf = (tree, name) => childOf(tree, name)?.text ?? "";

/**
 * Returns the name of a list object below its parent, or the number of a transaction.
 *
 * @param {Tree} content
 */
function nameOf(content) {
  const person = ["FirstName", "LastName"].map((part) => textOf(content, part)).filter(Boolean);
  const name = textOf(content, "Name") || textOf(content, "FullName") || person.join(" ");
  const parent = childOf(content, "ParentRef");
  const above = parent ? referenceText(parent) : "";
  if (name) return above ? `${above}:${name}` : name;
  return textOf(content, "RefNumber");
}

/** @param {Tree} content */
const idOf = (content) => textOf(content, "TxnID") || textOf(content, "ListID");

/**
 * @param {Tree} content
 * @param {string} subject
 * @returns {Word[]}
 */
function partyOf(content, subject) {
  for (const [name, preposition] of PARTIES) {
    const party = childOf(content, name);
    const text = party && referenceText(party);
    if (text) return [` ${PREPOSITIONS[subject] ?? preposition} `, { value: text }];
  }
  return [];
}

/**
 * @param {Tree} content
 * @returns {Word[]}
 */
function sumsOf(content) {
  const lines = (content.children ?? []).filter(isLine);
  const stated = decimal(textOf(content, "TotalAmount") || textOf(content, "Amount"));
  const total = stated ? cents(stated) : totalOf(lines);
  return [
    ...(lines.length ? [`, ${plural(lines.length, "line")}`] : []),
    ...(total === null ? [] : [`, total ${moneyText(total)}`]),
  ];
}

/**
 * Returns the sum of lines in cents, or null if only QuickBooks knows it: a wrong number is worse than none.
 *
 * @param {Tree[]} lines
 */
export function totalOf(lines) {
  const counted = lines.filter(({ name }) => name !== "JournalCreditLine");
  if (!counted.length) return null;
  let total = 0n;
  for (const line of counted) {
    const amount = PRICED.has(line.name) ? amountOf(line) : null;
    if (amount === null) return null;
    total += amount;
  }
  return total;
}

/**
 * A rate without a quantity may be that of a discount, which QuickBooks subtracts.
 *
 * @param {Tree} line
 */
function amountOf(line) {
  const stated = decimal(["Amount", "PaymentAmount", "RefundAmount"].map((name) => textOf(line, name)).find(Boolean));
  if (stated) return cents(stated);
  const quantity = decimal(textOf(line, "Quantity"));
  const price = decimal(textOf(line, "Rate") || textOf(line, "Cost"));
  return quantity && price && cents(product(quantity, price));
}

/**
 * Returns the names of the fields that a change names.
 *
 * @param {Tree} content
 * @returns {Word[]}
 */
function changedIn(content) {
  const fields = leavesOf(content).map(({ key }) => fieldTitle(key.split("/")[0].replace(/#\d+$/, "")));
  const lines = (content.children ?? []).some(isLine) ? ["lines"] : [];
  const names = [...new Set([...fields.map((name) => name.toLowerCase()), ...lines])];
  if (!names.length) return [];
  const more = names.length - MAX_FIELDS;
  return [`: ${names.slice(0, MAX_FIELDS).join(", ")}${more > 0 ? ` and ${plural(more, "more field")}` : ""}`];
}
