// Subscriptions: the objects that one may have, and in words how far they have been read and what happens next.
import { nounOf, plural } from "./text.js";

/**
 * @typedef {{object: string, state: string | null, read_at: string | null, next_read_at: string | null,
 *   records: number | null, records_so_far: number | null, changes: number, problem: string | null}} BooksObject
 * @typedef {{name: string | null, objects: BooksObject[], every_minutes: number, paused_at: string | null,
 *   next_run_at: string | null, copied_at: string | null, failures: number, error: string | null}} Subscription
 */

/**
 * The objects that a subscription may have: whether each is an entry of a list or a transaction, and what can be
 * included. `tests/infrastructure/test_console_objects.py` compares them with the schema.
 *
 * @type {Record<string, string[]>}
 */
export const OBJECTS = {
  ARRefundCreditCard: ["transaction", "lines", "custom_fields"],
  Account: ["list", "custom_fields"],
  Bill: ["transaction", "lines", "linked", "custom_fields"],
  BillPaymentCheck: ["transaction", "lines", "custom_fields"],
  BillPaymentCreditCard: ["transaction", "lines", "custom_fields"],
  BillingRate: ["list"],
  BuildAssembly: ["transaction", "custom_fields"],
  Charge: ["transaction", "linked", "custom_fields"],
  Check: ["transaction", "lines", "linked", "custom_fields"],
  Class: ["list"],
  CreditCardCharge: ["transaction", "lines", "custom_fields"],
  CreditCardCredit: ["transaction", "lines", "custom_fields"],
  CreditMemo: ["transaction", "lines", "linked", "custom_fields"],
  Currency: ["list"],
  Customer: ["list", "custom_fields"],
  CustomerMsg: ["list"],
  CustomerType: ["list"],
  DateDrivenTerms: ["list"],
  Deposit: ["transaction", "lines", "custom_fields"],
  Employee: ["list", "custom_fields"],
  Estimate: ["transaction", "lines", "linked", "custom_fields"],
  InventoryAdjustment: ["transaction", "lines", "custom_fields"],
  InventorySite: ["list"],
  Invoice: ["transaction", "lines", "linked", "custom_fields"],
  ItemDiscount: ["list", "custom_fields"],
  ItemFixedAsset: ["list", "custom_fields"],
  ItemGroup: ["list", "custom_fields"],
  ItemInventory: ["list", "custom_fields"],
  ItemInventoryAssembly: ["list", "custom_fields"],
  ItemNonInventory: ["list", "custom_fields"],
  ItemOtherCharge: ["list", "custom_fields"],
  ItemPayment: ["list", "custom_fields"],
  ItemReceipt: ["transaction", "lines", "linked", "custom_fields"],
  ItemSalesTax: ["list", "custom_fields"],
  ItemSalesTaxGroup: ["list", "custom_fields"],
  ItemService: ["list", "custom_fields"],
  ItemSubtotal: ["list", "custom_fields"],
  JobType: ["list"],
  JournalEntry: ["transaction", "lines", "custom_fields"],
  Lead: ["list", "no_deletions"],
  OtherName: ["list", "custom_fields"],
  PaymentMethod: ["list"],
  PayrollItemNonWage: ["list"],
  PayrollItemWage: ["list"],
  PriceLevel: ["list"],
  PurchaseOrder: ["transaction", "lines", "linked", "custom_fields"],
  ReceivePayment: ["transaction", "lines", "custom_fields"],
  SalesOrder: ["transaction", "lines", "linked", "custom_fields"],
  SalesReceipt: ["transaction", "lines", "custom_fields"],
  SalesRep: ["list"],
  SalesTaxCode: ["list"],
  SalesTaxPaymentCheck: ["transaction", "lines", "custom_fields"],
  ShipMethod: ["list"],
  StandardTerms: ["list"],
  TimeTracking: ["transaction"],
  ToDo: ["list"],
  Transfer: ["transaction", "no_deletions"],
  TransferInventory: ["transaction", "lines"],
  UnitOfMeasureSet: ["list"],
  Vehicle: ["list"],
  VehicleMileage: ["transaction"],
  Vendor: ["list", "custom_fields"],
  VendorCredit: ["transaction", "lines", "linked", "custom_fields"],
  VendorType: ["list"],
  WorkersCompCode: ["list"],
};

/** What can be read beside objects, with the words for it. */
export const INCLUDES = {
  lines: "Lines of transactions",
  linked: "Linked transactions, such as the payments of an invoice",
  custom_fields: "Custom fields",
};

/** @param {string} text */
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * Returns the name of an object for people: "ItemInventory" → "Inventory item".
 *
 * @param {string} name
 */
export const objectTitle = (name) => capital(nounOf(name));

/**
 * Returns the names of the objects of a kind whose name or title contains a text.
 *
 * @param {string} kind
 * @param {string} phrase
 */
export function objectsOf(kind, phrase = "") {
  const wanted = phrase.trim().toLowerCase();
  const names = Object.keys(OBJECTS).filter((name) => OBJECTS[name][0] === kind);
  return names
    .filter((name) => `${name} ${objectTitle(name)}`.toLowerCase().includes(wanted))
    .sort((one, other) => objectTitle(one).localeCompare(objectTitle(other)));
}

/**
 * Returns what is included with any object: ["lines"].
 *
 * @param {Record<string, string[]>} include
 */
export const partsOf = (include) => [...new Set(Object.values(include).flat())].sort();

/**
 * Returns `include` of a subscription: of each object what it has of these parts. If they are those of the former
 * `include`, its objects keep their own.
 *
 * @param {string[]} names
 * @param {string[]} parts
 * @param {Record<string, string[]>} [former]
 */
export function includeOf(names, parts, former = {}) {
  const isSame = partsOf(former).join() === [...parts].sort().join();
  const own = (/** @type {string} */ name) =>
    isSame && former[name] ? former[name] : parts.filter((part) => OBJECTS[name]?.includes(part));
  return Object.fromEntries(names.map((name) => [name, own(name)]).filter(([, found]) => found.length));
}

/** @param {string} name */
export const reportsDeletions = (name) => !OBJECTS[name]?.includes("no_deletions");

const SHOWN = 3;

/**
 * Returns what a subscription is called: its name, or its first objects.
 *
 * @param {Subscription} one
 */
export function titleOf({ name, objects }) {
  if (name) return name;
  const titles = objects.map(({ object }) => objectTitle(object));
  const rest = titles.length - SHOWN;
  return rest > 1 ? `${titles.slice(0, SHOWN).join(", ")} and ${rest} more` : titles.join(", ");
}

/**
 * Returns the state of an object: a name, a tone, and what is wrong and what to do.
 *
 * @param {BooksObject} one
 * @returns {{name: string, tone: string, live?: boolean, detail?: string, help?: string}}
 */
export function objectState({ state, problem, records_so_far: soFar, next_read_at: next }) {
  const isReading = soFar !== null;
  const detail = isReading ? `${plural(soFar, "record")} so far` : undefined;
  if (state === "unsupported")
    return {
      name: "Cannot be read",
      tone: "amber",
      detail: problem ?? undefined,
      help: "It is tried again once a day. To stop that, edit the subscription and take it out.",
    };
  if (state === "resync_required")
    return {
      name: "Needs a resync",
      tone: "red",
      detail: problem ?? undefined,
      help: "Changes may be missing. Choose Resync: all records are read again.",
    };
  if (state === "snapshot")
    return isReading
      ? { name: "Reading all records", tone: "blue", live: true, detail }
      : { name: "Waits to be read", tone: "grey" };
  if (state === "changes")
    return isReading
      ? { name: "Reading changes", tone: "blue", live: true, detail }
      : next
        ? { name: "Up to date", tone: problem ? "amber" : "green", detail: problem ?? undefined }
        : { name: "Not read any more", tone: "grey" };
  return { name: "Waits to be read", tone: "grey" };
}

/** From so many failed runs in a row, programs get `subscription.failed`. */
export const FAILED_RUNS = 3;

/**
 * Returns the state of a subscription as a name and a tone: the worst that people have to know.
 *
 * @param {Subscription} one
 * @returns {{name: string, tone: string, live?: boolean}}
 */
export function subscriptionState(one) {
  const states = one.objects.map(({ state }) => state);
  if (one.paused_at) return { name: "Paused", tone: "amber" };
  if (states.includes("resync_required")) return { name: "Needs a resync", tone: "red" };
  if (one.failures >= FAILED_RUNS) return { name: "Runs fail", tone: "red" };
  if (states.every((state) => state === "unsupported")) return { name: "Cannot be read", tone: "red" };
  const reading = one.objects.find((each) => each.records_so_far !== null);
  if (reading) return { name: objectState(reading).name, tone: "blue", live: true };
  if (one.copied_at === null || states.includes(null)) return { name: "Not read yet", tone: "grey" };
  return states.includes("unsupported")
    ? { name: "Partly up to date", tone: "amber" }
    : { name: "Up to date", tone: "green" };
}

/**
 * Returns what the next run waits for, and whether that is the next call of the Web Connector; or null if its time says
 * enough.
 *
 * @param {Subscription} one
 * @param {{paused_at: string | null, status: string, waiting_reason: {code: string} | null}} connection
 * @param {number} now
 */
export function nextStep(one, connection, now = Date.now()) {
  if (one.paused_at) return { text: "Its objects are not read until you choose Resume." };
  if (connection.paused_at) return { text: "The connection is paused. Runs go on when you resume it." };
  if (connection.status === "never_connected")
    return { text: "The first run begins when the Web Connector has been set up and calls." };
  if (connection.waiting_reason?.code === "outside_sync_window")
    return { text: "The next run begins in the sync window." };
  if (!one.next_run_at || new Date(one.next_run_at).getTime() > now) return null;
  const isReading = one.objects.some(({ records_so_far: soFar }) => soFar !== null);
  const what = isReading ? "Reading goes on" : one.copied_at ? "The next run begins" : "Reading begins";
  return { text: `${what} at the next call of the Web Connector, after the waiting requests.`, isNextCall: true };
}

/**
 * Returns an interval in words: "every 15 minutes", "every hour", "every day".
 *
 * @param {number} minutes
 */
export function interval(minutes) {
  if (minutes === 1_440) return "every day";
  if (minutes % 60) return `every ${plural(minutes, "minute")}`;
  return minutes === 60 ? "every hour" : `every ${plural(minutes / 60, "hour")}`;
}

/** What changes with every change, and says nothing. */
const MARKS = new Set(["EditSequence", "TimeModified"]);

/**
 * Returns the texts of JSON by their places: {"BillAddress/City": "Ford", "InvoiceLineRet/2/Rate": "5.00"}.
 *
 * @param {unknown} value
 * @param {string} place
 * @returns {Record<string, string>}
 */
function fieldsOf(value, place = "") {
  if (typeof value !== "object" || value === null) return { [place]: String(value) };
  const members = Array.isArray(value) ? value.map((one, index) => [index + 1, one]) : Object.entries(value);
  return Object.assign(
    {},
    ...members.map(([name, member]) => fieldsOf(member, place ? `${place}/${name}` : String(name))),
  );
}

/**
 * Returns the fields in which two records differ, with both texts: [["Phone", "555", undefined]].
 *
 * @param {unknown} before
 * @param {unknown} after
 * @returns {[string, string | undefined, string | undefined][]}
 */
export function differencesOf(before, after) {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(now), ...Object.keys(old)])];
  return names
    .filter((name) => old[name] !== now[name] && !MARKS.has(name))
    .map((name) => [name, old[name], now[name]]);
}

/**
 * Returns changes with the differences to the change of the same record before each. They are null if it is not known,
 * or if the record was deleted.
 *
 * @param {{id: string, record?: Record<string, unknown>}[]} found Newest first.
 */
export function changesOf(found) {
  /** @type {Map<string, Record<string, unknown> | undefined>} */
  const known = new Map();
  const oldestFirst = found.toReversed().map((change) => {
    const before = known.get(change.id);
    known.set(change.id, change.record);
    return { change, differences: before && change.record ? differencesOf(before, change.record) : null };
  });
  return oldestFirst.toReversed();
}

/** How a record was found that was not deleted. A snapshot reads all records, so these need not have changed. */
const FOUND_IN = {
  changes: { name: "Changed", tone: "blue" },
  first_snapshot: { name: "First read", tone: "grey" },
  later_snapshot: { name: "Read again", tone: "grey" },
};

/**
 * Returns what happened to a record: `{name, tone}`.
 *
 * @param {{type: string, found_in?: string}} change
 */
export const happened = ({ type, found_in: found }) =>
  type === "record.deleted" ? { name: "Deleted", tone: "red" } : (FOUND_IN[found ?? ""] ?? FOUND_IN.changes);

/**
 * Returns what a record is called, or null.
 *
 * @param {{record?: Record<string, unknown>}} change
 */
export function recordTitle({ record }) {
  const name = record?.FullName ?? record?.Name ?? record?.RefNumber;
  return name === undefined ? null : String(name);
}
