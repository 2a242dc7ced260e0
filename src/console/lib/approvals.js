// The writes that wait for approval: a bounded number of calls reads them, and others decide about them.
import { call } from "./api.js";
import { patiently } from "./bulk_run.js";
import { ApiError } from "./http.js";
import { explain } from "./ui.js";
import { withLater } from "./write_fields.js";
import { fromXml } from "./xml.js";

/**
 * @import { Tree } from "./trees.js"
 * @typedef {Record<string, any>} Queued A request as the API shows it.
 * @typedef {object} Item A write as it is shown. Only the revision of this record can be approved.
 * @property {Queued} record
 * @property {Tree | null} tree Null if the list leaves out the content, because it is large.
 * @property {Queued} [newer] The record after a change, which is not shown yet.
 * @property {any} [problem] Why a decision about it was refused.
 * @typedef {{id: string, name: string | null, awaiting_approval: number}} Waiting
 * @typedef {{connection: Waiting, items: Item[], total: number}} Group
 * @typedef {object} Queue
 * @property {Group[]} groups The writes by connection, those that have waited longest first.
 * @property {Waiting[]} others The connections whose writes were not read.
 * @property {boolean} isAll Whether every connection was looked at.
 */

/** A look reads up to this many pages of connections, and the writes of up to this many of them. */
const MAX_PAGES = 5;
const PAGE_SIZE = 100;
/** The maximum number of connections whose writes are counted: those that were created first. */
export const MAX_COUNTED = MAX_PAGES * PAGE_SIZE;
const MAX_CONNECTIONS = 10;
const PER_CONNECTION = 25;
const PARALLEL = 3;
/** A look reads one record of up to this many authors whose names are not known yet. */
const MAX_AUTHORS = 9;
/** A call decides about up to 100 requests. */
const PER_CALL = 100;

/**
 * Reads the writes that wait in one connection, or in those of all that were created first.
 *
 * @param {string | undefined} id
 * @param {AbortSignal} [signal]
 */
export async function readQueue(id, signal) {
  const { waiting, isAll } = id ? await oneConnection(id, signal) : await allConnections(signal);
  const chosen = waiting.slice(0, MAX_CONNECTIONS);
  const groups = await inParts(chosen, (one) => readGroup(one, id ? PER_CALL : PER_CONNECTION, signal));
  await readAuthors(
    groups.flatMap(({ items }) => items.map(({ record }) => record)),
    signal,
  );
  return { groups: groups.filter(({ total }) => total > 0), others: waiting.slice(MAX_CONNECTIONS), isAll };
}

/**
 * Returns what `read` returns for each of a list, with a few calls at once.
 *
 * @template One, Read
 * @param {One[]} list
 * @param {(one: One) => Promise<Read>} read
 */
async function inParts(list, read) {
  /** @type {Read[]} */
  const all = [];
  for (let at = 0; at < list.length; at += PARALLEL)
    all.push(...(await Promise.all(list.slice(at, at + PARALLEL).map(read))));
  return all;
}

/**
 * Who queued writes, by the id in their `approval`.
 *
 * @type {Map<string, {type: string, name: string | null}>}
 */
const authors = new Map();

/**
 * Returns who queued a write, or undefined if that was not read. Lists do not say it.
 *
 * @param {Queued} record
 */
export const authorOf = ({ approval, queued_by: author }) => author ?? authors.get(approval.queued_by);

/**
 * Reads one record of each author that is not known yet.
 *
 * @param {Queued[]} records
 * @param {AbortSignal} [signal]
 */
async function readAuthors(records, signal) {
  const unknown = records.filter((one) => one.approval?.queued_by && !authorOf(one));
  const ids = new Map(unknown.map((one) => [one.approval.queued_by, one.id]));
  await inParts([...ids].slice(0, MAX_AUTHORS), async ([author, id]) => {
    // The record may be gone. Its author is then shown by the id until the next look.
    const record = await readRecord(id, signal).catch(() => null);
    if (record?.queued_by) authors.set(author, record.queued_by);
  });
}

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<{waiting: Waiting[], isAll: boolean}>}
 */
async function oneConnection(id, signal) {
  const { data } = await call("GET", ["connections", id], { signal });
  return { waiting: [data], isAll: true };
}

/**
 * Returns the connections in which writes wait, of those that were created first.
 *
 * @param {AbortSignal} [signal]
 * @returns {Promise<{waiting: Waiting[], isAll: boolean}>}
 */
export async function allConnections(signal) {
  const waiting = [];
  for (let page = 1; ; page += 1) {
    const query = { page, page_size: PAGE_SIZE, counts: true };
    const list = await call("GET", ["connections"], { query, signal });
    waiting.push(...list.data.filter((/** @type {Waiting} */ one) => one.awaiting_approval > 0));
    const isAll = page >= list.total_pages;
    if (isAll || page >= MAX_PAGES) return { waiting, isAll };
  }
}

/**
 * @param {Waiting} connection
 * @param {number} size
 * @param {AbortSignal} [signal]
 * @returns {Promise<Group>}
 */
async function readGroup(connection, size, signal) {
  const query = { awaiting_approval: true, sort: "inserted_at", sort_direction: "asc", page_size: size };
  const list = await call("GET", ["connections", connection.id, "queued_requests"], { query, signal });
  return { connection, items: list.data.map(itemOf), total: list.total };
}

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Queued>}
 */
export const readRecord = async (id, signal) => (await call("GET", ["queued_requests", id], { signal })).data;

/**
 * @param {Queued} record
 * @returns {Item}
 */
export function itemOf(record) {
  try {
    const { tree } = fromXml(record.request_xml);
    return { record, tree: record.depends_on.length ? withLater(tree) : tree };
  } catch {
    return { record, tree: null };
  }
}

/**
 * Returns writes by the batch with which they were queued. One that is alone has no batch.
 *
 * @param {Item[]} items
 * @returns {{id: string, batch: string | null, items: Item[]}[]}
 */
export function batchesOf(items) {
  /** @type {Map<string, Item[]>} */
  const parts = new Map();
  for (const item of items) {
    const id = item.record.batch_id ?? item.record.id;
    parts.set(id, [...(parts.get(id) ?? []), item]);
  }
  return [...parts].map(([id, some]) => ({ id, batch: some.length > 1 ? id : null, items: some }));
}

/**
 * Whether somebody has to decide about a request.
 *
 * @param {Queued} record
 */
export const isOpen = ({ approval, state }) =>
  Boolean(approval && !approval.decision) && ["waiting", "retryable"].includes(state);

/**
 * Returns what to show after another look. A write stays as it was shown, so that nothing changes under the reader's
 * hand: its new content is `newer` until the reader asks for it. Those that were `decided` are left out.
 *
 * @param {Queue | null} shown
 * @param {Queue} fresh
 * @param {Set<string>} decided
 * @returns {Queue}
 */
export function merged(shown, fresh, decided) {
  const known = new Map(shown?.groups.flatMap(({ items }) => items).map((item) => [item.record.id, item]));
  const groups = fresh.groups.map((group) => {
    const left = group.items.filter(({ record }) => !decided.has(record.id));
    return {
      ...group,
      total: group.total - (group.items.length - left.length),
      items: left.map((item) => withNewer(known.get(item.record.id), item.record) ?? item),
    };
  });
  return { ...fresh, groups: groups.filter(({ total }) => total > 0) };
}

/**
 * @param {Item | undefined} item
 * @param {Queued} record
 */
function withNewer(item, record) {
  if (!item) return undefined;
  const isSame = item.record.approval.revision === record.approval.revision;
  return isSame ? { ...item, newer: undefined } : { ...item, newer: record };
}

/**
 * Returns the queue with other items. `change` returns an item, or null for one that is not shown any more.
 *
 * @param {Queue} queue
 * @param {(item: Item) => Item | null} change
 * @returns {Queue}
 */
export function changed(queue, change) {
  const groups = queue.groups.map((group) => {
    const items = group.items.flatMap((item) => change(item) ?? []);
    return { ...group, items, total: group.total - (group.items.length - items.length) };
  });
  return { ...queue, groups: groups.filter(({ total }) => total > 0) };
}

// --- Decisions ---------------------------------------------------------------------------------------------------

/**
 * @typedef {{approves: true, acceptValues: boolean, batch?: string | null}} Approving
 * @typedef {{approves: false, reason: string, dependants: boolean, batch?: string | null}} Rejecting
 */

/**
 * Approves the revisions that are shown, or rejects the writes. With a `batch`, they are all of its writes that wait,
 * and if one cannot be approved or rejected, none is. Returns the refusals by id: null for a decision. A call that
 * fails is the refusal of all of its writes, and a limit of the app is waited for.
 *
 * @param {Item[]} items
 * @param {Approving | Rejecting} decision
 * @param {AbortSignal} signal
 * @param {(seconds: number) => void} waits
 * @returns {Promise<Map<string, any>>}
 */
export async function decide(items, decision, signal, waits = () => {}) {
  const results = new Map();
  for (const part of partsOf(items)) {
    if (signal.aborted) break;
    const ids = part.map(({ record }) => record.id);
    try {
      const answer = await patiently(() => callFor(part, decision), signal, waits);
      for (const { id, error } of answer?.data.requests ?? [])
        results.set(id, error && new ApiError(400, error.code, error.message, error.details));
    } catch (error) {
      for (const id of ids) results.set(id, error);
    }
  }
  return results;
}

/**
 * @param {Item[]} part
 * @param {Approving | Rejecting} decision
 */
function callFor(part, decision) {
  const { batch } = decision;
  const path = ["connections", part[0].record.connection_id, ...(batch ? ["batches", batch] : ["queued_requests"])];
  if (decision.approves) {
    const requests = part.map(({ record }) => ({ id: record.id, revision: record.approval.revision }));
    return call("POST", [...path, "approve"], { body: { requests, accept_values: decision.acceptValues } });
  }
  const which = batch ? {} : { ids: part.map(({ record }) => record.id) };
  return call("POST", [...path, "reject"], {
    body: { ...which, reason: decision.reason },
    query: decision.dependants ? { dependants: true } : {},
  });
}

/**
 * Returns the writes of each call.
 *
 * @param {Item[]} items
 */
export function partsOf(items) {
  return [...new Set(items.map(({ record }) => record.connection_id))].flatMap((id) => {
    const own = items.filter(({ record }) => record.connection_id === id);
    return Array.from({ length: Math.ceil(own.length / PER_CALL) }, (_, n) =>
      own.slice(n * PER_CALL, (n + 1) * PER_CALL),
    );
  });
}

/**
 * Returns an item after a refusal: with the reason, or with its new content if it has changed. Null: it ended, or
 * somebody else has decided.
 *
 * @param {Item} item
 * @param {ApiError} problem
 * @returns {Promise<Item | null>}
 */
export async function refused(item, problem) {
  if (!["invalid_state", "not_found"].includes(problem.code)) return { ...item, problem };
  try {
    const record = await readRecord(item.record.id);
    if (!isOpen(record)) return null;
    const next = withNewer(item, record);
    return next?.newer ? { ...next, problem: undefined } : { ...item, problem };
  } catch (error) {
    return error.status === 404 || error.status === 410 ? null : { ...item, problem };
  }
}

/**
 * Returns why a decision was refused, in words.
 *
 * @param {ApiError} problem
 */
export const refusalOf = (problem) =>
  problem.code === "has_dependants"
    ? "Other requests of its batch wait for it. Reject it again, and choose to end them too."
    : explain(problem);

/**
 * Returns the name of a connection, with digits of its id if another group has the same name.
 *
 * @param {{connection: {id: string, name: string | null}}[]} groups
 * @param {{connection: {id: string, name: string | null}}} group
 */
export function labelIn(groups, { connection: { id, name } }) {
  const hasNamesake = groups.some(({ connection }) => connection.id !== id && connection.name === name);
  return `${name ?? "Unnamed connection"}${hasNamesake ? ` (${id.slice(0, 13)})` : ""}`;
}
