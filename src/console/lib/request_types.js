// Request types by words, as people name them: "change customer" is CustomerModRq.
import { requestTitle } from "./text.js";

/** Those that people need most, the first ones first. */
export const POPULAR = [
  "CustomerQueryRq",
  "InvoiceAddRq",
  "InvoiceQueryRq",
  "ItemQueryRq",
  "CustomerAddRq",
  "ReceivePaymentAddRq",
  "BillAddRq",
  "CustomerModRq",
  "InvoiceModRq",
  "CompanyQueryRq",
];

/** The changes that have a form for people. @type {Record<string, string>} */
export const CHANGES = { CustomerModRq: "Change a customer", InvoiceModRq: "Change an invoice" };

/** The queries that support is asked for most. Their forms begin with a date. @type {Record<string, string>} */
export const CHANGED_SINCE = {
  InvoiceQueryRq: "Invoices changed since …",
  CustomerQueryRq: "Customers changed since …",
};

/** @type {Record<string, string[]>} Other words for a word of a type. */
const SYNONYMS = {
  add: ["new", "create"],
  change: ["mod", "edit", "update", "modify"],
  query: ["read", "find", "list"],
  del: ["delete", "remove"],
  txn: ["transaction"],
};

/** @param {string} name */
const rank = (name) => (POPULAR.includes(name) ? POPULAR.indexOf(name) : POPULAR.length + requestTitle(name).length);

/**
 * Returns the types that have every word of a text, in any order. Popular and short names come first.
 *
 * @param {string} text
 * @param {string[]} names
 */
export function typesWith(text, names) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return names
    .filter((name) => {
      const own = requestTitle(name).toLowerCase().split(" ");
      const words = [name.toLowerCase(), ...own, ...own.flatMap((word) => SYNONYMS[word] ?? [])];
      return wanted.every((word) => words.some((one) => one.startsWith(word)));
    })
    .toSorted((one, other) => rank(one) - rank(other));
}
