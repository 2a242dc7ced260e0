// The forms for people: which fields of a customer, an invoice and a payment they show, and how lines add up. Types,
// lengths and the order of elements come from the schema.
//
// A field: `{path, label}` and, if needed, `help`, `wide` (the whole width), `offers` (names from earlier responses),
// `isToday` (a new form has today's date), `isEnd` (a date alone means its end) and `initial` (what it begins with). Of
// the lines, `columns` are the fields of the table, and `below` is a field under them.

import { cents, decimal, moneyText, product } from "./money.js";
import { plural } from "./text.js";

/**
 * @typedef {object} FormField
 * @property {string} path
 * @property {string} label
 * @property {string} [help]
 * @property {boolean} [wide]
 * @property {string} [offers]
 * @property {boolean} [isToday]
 * @property {boolean} [isEnd]
 * @property {string} [initial]
 * @typedef {object} FormLines
 * @property {string} element
 * @property {string[]} [others] Lines that the form does not show. They count in the total.
 * @property {FormField[]} columns
 * @property {FormField} [below]
 * @property {string} [computed]
 * @property {string[]} unique Fields that belong to one line only: a copy does not have them.
 * @property {{path: string, label: string, missing: string, lines: string, options: string[][]}} [instead]
 * @property {(line: any) => bigint | null} amountOf
 * @typedef {{title: string, isClosed?: boolean, fields: FormField[]}} Section
 * @typedef {{root?: string, sections: Section[], lines?: FormLines, totals?: any}} SimpleForm
 */

const address = (root) => [
  { path: `${root}/Addr1`, label: "Line 1" },
  { path: `${root}/Addr2`, label: "Line 2" },
  { path: `${root}/Addr3`, label: "Line 3" },
  { path: `${root}/City`, label: "City" },
  { path: `${root}/State`, label: "State or province" },
  { path: `${root}/PostalCode`, label: "Postal code" },
  { path: `${root}/Country`, label: "Country" },
];

const CUSTOMER = { path: "CustomerRef/FullName", label: "Customer", offers: "customers", wide: true };
const DATE = { path: "TxnDate", label: "Date", isToday: true };
const MEMO = { path: "Memo", label: "Memo", help: "For your own use." };

/** @type {Record<string, SimpleForm>} */
export const SIMPLE_FORMS = {
  CustomerAddRq: {
    root: "CustomerAdd",
    sections: [
      {
        title: "Customer",
        fields: [
          {
            path: "Name",
            label: "Name",
            wide: true,
            help: "The name in the customer list of QuickBooks. Customers, vendors and employees cannot share a name.",
          },
          { path: "CompanyName", label: "Company" },
          {
            path: "ParentRef/FullName",
            label: "Job of",
            offers: "customers",
            help: "Another customer, if this is one of its jobs.",
          },
          { path: "FirstName", label: "First name" },
          { path: "LastName", label: "Last name" },
          { path: "JobTitle", label: "Job title" },
        ],
      },
      {
        title: "Contact",
        fields: [
          { path: "Email", label: "Email" },
          { path: "Phone", label: "Phone" },
          { path: "Mobile", label: "Mobile" },
          { path: "Fax", label: "Fax" },
        ],
      },
      { title: "Billing address", fields: address("BillAddress") },
      { title: "Shipping address", isClosed: true, fields: address("ShipAddress") },
      {
        title: "Terms and notes",
        isClosed: true,
        fields: [
          { path: "TermsRef/FullName", label: "Terms", help: "As in the list of terms, such as Net 30." },
          { path: "AccountNumber", label: "Account number" },
          { path: "CreditLimit", label: "Credit limit" },
          { path: "Notes", label: "Notes", wide: true },
        ],
      },
    ],
  },
  InvoiceAddRq: {
    root: "InvoiceAdd",
    sections: [
      {
        title: "Invoice",
        fields: [
          CUSTOMER,
          DATE,
          { path: "RefNumber", label: "Number", help: "If it is empty, QuickBooks assigns the next one." },
          {
            path: "TermsRef/FullName",
            label: "Terms",
            help: "If it is empty, QuickBooks uses the customer's terms.",
          },
          { path: "DueDate", label: "Due date", help: "If it is empty, QuickBooks computes it from the terms." },
        ],
      },
      {
        title: "More fields",
        isClosed: true,
        fields: [
          { path: "PONumber", label: "Purchase order" },
          { path: "CustomerMsgRef/FullName", label: "Message to the customer", help: "As in the list of messages." },
          { ...MEMO, wide: true },
          { path: "IsToBePrinted", label: "To be printed" },
          { path: "IsToBeEmailed", label: "To be emailed" },
        ],
      },
      { title: "Billing address", isClosed: true, fields: address("BillAddress") },
    ],
    lines: {
      element: "InvoiceLineAdd",
      others: ["InvoiceLineGroupAdd", "DiscountLineAdd", "SalesTaxLineAdd", "ShippingLineAdd"],
      columns: [
        { path: "ItemRef/FullName", label: "Item", offers: "items" },
        { path: "Quantity", label: "Quantity" },
        { path: "Rate", label: "Rate" },
        { path: "Amount", label: "Amount" },
      ],
      below: { path: "Desc", label: "Description" },
      computed: "Amount",
      unique: ["LinkToTxn", "SerialNumber"],
      amountOf: invoiceLineAmount,
    },
    totals: invoiceTotals,
  },
  ReceivePaymentAddRq: {
    root: "ReceivePaymentAdd",
    sections: [
      {
        title: "Payment",
        fields: [
          CUSTOMER,
          DATE,
          { path: "TotalAmount", label: "Amount received" },
          {
            path: "PaymentMethodRef/FullName",
            label: "Payment method",
            help: "As in the list of payment methods, such as Check.",
          },
          { path: "RefNumber", label: "Check or reference number" },
        ],
      },
      {
        title: "More fields",
        isClosed: true,
        fields: [
          {
            path: "DepositToAccountRef/FullName",
            label: "Deposit to",
            help: "If it is empty, QuickBooks uses Undeposited Funds.",
          },
          {
            path: "ARAccountRef/FullName",
            label: "Accounts receivable account",
            help: "Only if the company has several.",
          },
          { ...MEMO, wide: true },
        ],
      },
    ],
    lines: {
      element: "AppliedToTxnAdd",
      instead: {
        path: "IsAutoApply",
        label: "Apply the payment to",
        missing: "Choose what the payment is applied to.",
        lines: "The invoices that I name",
        options: [
          ["true", "The oldest open invoices"],
          ["false", "No invoice yet: it stays a credit of the customer"],
        ],
      },
      columns: [
        { path: "TxnID", label: "TxnID of the invoice", offers: "invoices" },
        { path: "PaymentAmount", label: "Payment" },
        { path: "DiscountAmount", label: "Discount" },
      ],
      unique: ["TxnID", "TxnLineDetail", "SetCredit"],
      amountOf: (line) => (line.is("PaymentAmount") ? numberOf(line.text("PaymentAmount")) : null),
    },
    totals: paymentTotals,
  },
};

/**
 * All fields of a form that are outside its lines.
 *
 * @param {SimpleForm} form
 */
export const fieldsOf = (form) => form.sections.flatMap(({ fields }) => fields);
/** @param {SimpleForm} form */
export const lineFieldsOf = (form) =>
  form.lines ? [...form.lines.columns, ...(form.lines.below ? [form.lines.below] : [])] : [];

/**
 * Returns the names for people of a form's elements: `CustomerRef` is "Customer".
 *
 * @param {SimpleForm} form
 */
export function labelsOf(form) {
  /** @type {[string, string][]} */
  const labels = [...fieldsOf(form), ...lineFieldsOf(form)].map(({ path, label }) => [
    /^(\w+Ref)\/FullName$/.exec(path)?.[1] ?? path.replace(/.*\//, ""),
    label,
  ]);
  const { instead } = form.lines ?? {};
  return new Map(instead ? [...labels, [instead.path, instead.label]] : labels);
}

/**
 * Returns which names a form offers: ["customers", "items"].
 *
 * @param {SimpleForm} form
 */
export const offersIn = (form) => [
  ...new Set([...fieldsOf(form), ...lineFieldsOf(form)].flatMap(({ offers }) => offers ?? [])),
];

/** Returns a problem with the form's names for elements. */
export function inWordsOf(form, problem) {
  const { element, message, isMissing } = problem;
  const { instead } = form.lines ?? {};
  if (isMissing && instead && element?.name === instead.path) return { ...problem, message: instead.missing };
  const name = /^\w+/.exec(message)?.[0] ?? "";
  const label = labelsOf(form).get(name);
  return label ? { ...problem, message: label + message.slice(name.length) } : problem;
}

const numberOf = (text) => {
  const number = decimal(text);
  return number && cents(number);
};

/** Items whose amount QuickBooks computes from the lines above, or with another sign. */
const COMPUTED_ITEMS = new Set(["ItemDiscount", "ItemSubtotal", "ItemPayment", "ItemSalesTax", "ItemSalesTaxGroup"]);
/** Elements that set the price in place of a rate, or change it. */
const OTHER_PRICES = ["RatePercent", "PriceLevelRef"];

/**
 * Returns the amount of an invoice's line in cents, or null if only QuickBooks can compute it: from the price of the
 * item, a percentage or a price level. `line` has `is(name)`, `text(name)` and `item`, the kind of its item if that is
 * known.
 */
function invoiceLineAmount(line) {
  if (COMPUTED_ITEMS.has(line.item)) return null;
  if (line.is("Amount")) return numberOf(line.text("Amount"));
  if (line.is("Rate")) {
    const quantity = decimal(line.is("Quantity") ? line.text("Quantity") : "1");
    const rate = decimal(line.text("Rate"));
    return quantity && rate && cents(product(quantity, rate));
  }
  // A line with only a description has no amount.
  return line.is("ItemRef") || line.is("ItemGroupRef") || OTHER_PRICES.some((name) => line.is(name)) ? null : 0n;
}

const sum = (amounts) => amounts.reduce((total, amount) => total + (amount ?? 0n), 0n);

/**
 * Returns the totals to show: `[{label, text, note, isWrong}]`. `lines` have `amount`, in cents or null; `text` is of
 * the form.
 */
function invoiceTotals({ lines }) {
  const unknown = lines.filter(({ amount }) => amount === null).length;
  return [
    { label: "Lines", text: String(lines.length) },
    {
      label: "Total before sales tax",
      text: moneyText(sum(lines.map(({ amount }) => amount))),
      isMain: true,
      note: unknown
        ? `Without ${plural(unknown, "line")} whose amount QuickBooks computes.`
        : "QuickBooks adds the sales tax.",
    },
  ];
}

function paymentTotals({ lines, text }) {
  const received = numberOf(text("TotalAmount"));
  if (!lines.length || received === null) return [];
  const applied = sum(lines.map(({ amount }) => amount));
  const rest = received - applied;
  const unknown = lines.filter(({ amount }) => amount === null).length;
  return [
    { label: "Received", text: moneyText(received) },
    {
      label: "Applied",
      text: moneyText(applied),
      note: unknown ? `Does not include ${plural(unknown, "invoice")} without a payment amount.` : "",
    },
    rest < 0n
      ? {
          label: "Applied too much",
          text: moneyText(-rest),
          isMain: true,
          isWrong: true,
          note: "More is applied than was received.",
        }
      : {
          label: "Not applied",
          text: moneyText(rest),
          isMain: true,
          note: rest > 0n ? "It stays a credit of the customer." : "",
        },
  ];
}
