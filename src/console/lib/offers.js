// Names to offer in forms: customers, items and open invoices of earlier responses of a connection. They are read with
// the calls of the API that the lists use, and kept in the memory of the tab.

import { call } from "./api.js";
import { moneyText, decimal, cents } from "./money.js";
import { session } from "./session.js";
import { withoutControls } from "./text.js";

/**
 * Bounds of what is read: one list, two responses of a kind (each at most 5 MB), and none after this many characters.
 */
const NEWEST = 100;
const RESPONSES = 2;
const MAX_CHARACTERS = 4_000_000;
const MAX_OFFERS = 10_000;
const MAX_SHOWN = 50;
const KEEP_MILLISECONDS = 600_000;

/** The kinds of entries that are offered: the queries that list them, and their names. */
export const KINDS = {
  customers: { query: "CustomerQueryRq", pattern: /^CustomerQueryRq$/, one: "customer" },
  items: { query: "ItemQueryRq", pattern: /^Item(?!ReceiptQ|SitesQ)\w*QueryRq$/, one: "item" },
  invoices: { query: "InvoiceQueryRq", pattern: /^InvoiceQueryRq$/, one: "open invoice" },
};

const kept = new Map();
session.onSignOut(() => kept.clear());

/**
 * Returns what a connection's responses offer: `{kinds: {customers: [{name, hint, item, isHidden}], …}, entries,
 * sources: [{id, request_name, responded_at}], missing: [kind]}`. `entries` has a map of each kind by the name in lower
 * case. By default it looks at the newest 100 responses; `isDeep` searches older ones for the kinds that are missing in
 * them.
 *
 * @param {string} connection
 * @param {string[]} wanted Keys of KINDS.
 * @param {{signal?: AbortSignal, isDeep?: boolean, isFresh?: boolean}} options
 */
export async function offersOf(connection, wanted, { signal, isDeep = false, isFresh = false } = {}) {
  const key = `${connection} ${wanted.join()} ${isDeep}`;
  const former = kept.get(key);
  if (former && !isFresh && Date.now() - former.at < KEEP_MILLISECONDS) return former.offers;
  const list = async (query) =>
    (
      await call("GET", ["connections", connection, "queued_requests"], {
        query: { state: "response_received", bodies: false, ...query },
        signal,
      })
    ).data;
  const newest = await list({ page_size: NEWEST });
  const found = {};
  for (const kind of wanted) {
    found[kind] = best(newest, KINDS[kind].pattern);
    if (!found[kind].length && isDeep)
      found[kind] = best(await list({ search_phrase: KINDS[kind].query, page_size: 10 }), KINDS[kind].pattern);
  }
  // The newest of each kind comes before the second of any, in case they are large.
  const records = [...Array(RESPONSES).keys()].flatMap((n) => Object.values(found).flatMap((all) => all[n] ?? []));
  const offers = await read(records, wanted, signal);
  kept.set(key, { at: Date.now(), offers });
  return offers;
}

/** Chooses the responses to read: those of whole lists before those of a single name, and the newest of each. */
const best = (records, pattern) =>
  records
    .filter((record) => pattern.test(record.request_name))
    .sort((one, other) => Number(Boolean(one.subject)) - Number(Boolean(other.subject)))
    .slice(0, RESPONSES);

async function read(records, wanted, signal) {
  const collected = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Map()]));
  const sources = [];
  let characters = 0;
  for (const { id } of records) {
    if (characters > MAX_CHARACTERS) break;
    const { data } = await call("GET", ["queued_requests", id], { query: { "include[]": "result" }, signal });
    characters += data.response_xml?.length ?? 0;
    if (data.result) collect(data.result, collected);
    sources.push(data);
  }
  const kinds = Object.fromEntries(
    wanted.map((kind) => [
      kind,
      [...collected[kind].values()].sort((one, other) => one.folded.localeCompare(other.folded)),
    ]),
  );
  const entries = Object.fromEntries(
    wanted.map((kind) => [kind, new Map(kinds[kind].map((one) => [one.folded, one]))]),
  );
  return {
    kinds,
    entries,
    sources: sources.map(({ id, request_name, responded_at }) => ({ id, request_name, responded_at })),
    missing: wanted.filter((kind) => !kinds[kind].length),
  };
}

/** Collects the names in the objects of a response, and in what those refer to. */
function collect(result, collected) {
  for (const [element, value] of Object.entries(result)) {
    for (const one of [value].flat()) {
      if (!one || typeof one !== "object") continue;
      if (element === "CustomerRet")
        offer(collected.customers, one.FullName ?? one.Name, {
          isHidden: one.IsActive === false,
          hint: one.CompanyName !== one.FullName && one.CompanyName,
        });
      else if (/^Item(?!Receipt|Sites)\w*Ret$/.test(element))
        offer(collected.items, one.FullName ?? one.Name, {
          isHidden: one.IsActive === false || element === "ItemGroupRet",
          item: element.slice(0, -"Ret".length),
          hint: itemHint(one),
        });
      else if (element === "InvoiceRet")
        offer(collected.invoices, one.TxnID, {
          isHidden: one.IsPaid === true || one.IsPending === true,
          hint: invoiceHint(one),
        });
      else if (element === "CustomerRef" && one.FullName) offer(collected.customers, one.FullName, {});
      else if (element === "ItemRef" && one.FullName) offer(collected.items, one.FullName, {});
      collect(one, collected);
    }
  }
}

/**
 * Adds a name. An inactive entry is not offered, whatever refers to it.
 *
 * @param {Map<string, {name: string, folded: string, hint: string, item?: string, isHidden: boolean}>} offers
 * @param {unknown} name
 * @param {{hint?: string, item?: string, isHidden?: boolean}} facts
 */
function offer(offers, name, { hint, item, isHidden = false }) {
  if (typeof name !== "string" || !name) return;
  const former = offers.get(name);
  if ((former && !hint && !item && !isHidden) || (!former && offers.size >= MAX_OFFERS)) return;
  offers.set(name, {
    name,
    folded: name.toLowerCase(),
    hint: hint || former?.hint || "",
    item: item ?? former?.item,
    isHidden: isHidden || Boolean(former?.isHidden),
  });
}

const amount = (text) => {
  const number = decimal(text);
  return number ? moneyText(cents(number)) : "";
};
const itemHint = (one) =>
  [
    one.SalesOrPurchase?.Desc ?? one.SalesAndPurchase?.SalesDesc ?? one.SalesDesc ?? one.ItemDesc,
    amount(one.SalesOrPurchase?.Price ?? one.SalesAndPurchase?.SalesPrice ?? one.SalesPrice),
  ]
    .filter(Boolean)
    .join(" · ");
const invoiceHint = (one) =>
  [
    one.RefNumber && `No. ${one.RefNumber}`,
    one.CustomerRef?.FullName,
    one.BalanceRemaining && `${amount(one.BalanceRemaining)} open`,
  ]
    .filter(Boolean)
    .join(" · ");

/**
 * Returns the offers to list for what a person has typed so far: those that begin with it, then those that contain it.
 */
export function matching(offers, typed) {
  const folded = typed.trim().toLowerCase();
  const visible = offers.filter((one) => !one.isHidden && one.name !== typed);
  const begins = visible.filter((one) => one.folded.startsWith(folded));
  const contains = visible.filter(
    (one) => !one.folded.startsWith(folded) && `${one.folded} ${one.hint.toLowerCase()}`.includes(folded),
  );
  return [...begins, ...contains].slice(0, MAX_SHOWN);
}

/**
 * Returns the text beside a name in a list. A name with characters that are invisible or change the direction is
 * spelled out.
 *
 * @param {{name: string, hint: string}} offer
 */
export function hintOf({ name, hint }) {
  const parts = withoutControls(name);
  const spelled = parts.some(({ control }) => control)
    ? parts.map(({ text, control }) => text ?? `[${control}]`).join("")
    : "";
  return [spelled, hint].filter(Boolean).join(" · ");
}
