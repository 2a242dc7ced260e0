// Queueing a request again: as a copy, or edited in Compose.
import { call } from "./api.js";
import { url } from "./router.js";
import { session } from "./session.js";
import { declarations } from "./versions.js";

/** The service takes a `send_by` that is a minute ahead, in milliseconds, with a reserve for the call. */
const MIN_AHEAD = 70_000;

/**
 * Whether a request is a write without a response that QuickBooks has executed, or may have.
 *
 * @param {any} record
 */
export const isUnsettled = (record) => isReplaced(record) && ["unknown", "yes"].includes(record.executed);

/**
 * Whether a request failed or was discarded. It is queued again once, whoever does it and whether or not it is edited.
 *
 * @param {any} record
 */
export const isReplaced = (record) => ["error", "discarded"].includes(record.state);

/**
 * Returns a record as the body of a new request, with the version of QBXML and the webhook URL of the record; null
 * means no webhook. A reader who sees only the origin of the URL, or may not give one, leaves it out: then the webhook
 * goes to the URL of the connection. A generated requestID is left out: it is the ID of the record. So is a time that
 * has passed.
 */
export function contentOf(record) {
  const { id, request_xml: xml, webhook_url, label, metadata, send_by, priority, if_exists } = record;
  const isKnown = session.may(webhook_url ? "see_webhook_urls" : "give_webhook_url");
  const isAhead = send_by && Date.parse(send_by) > Date.now() + MIN_AHEAD;
  return {
    request_xml: declarations(record.request_json.version) + xml.replace(` requestID="${id}"`, ""),
    ...(isKnown ? { webhook_url } : {}),
    ...(label ? { label } : {}),
    ...(metadata && Object.keys(metadata).length ? { metadata } : {}),
    ...(isAhead ? { send_by } : {}),
    ...(priority === "low" ? { priority } : {}),
    ...(if_exists && if_exists !== "fail" ? { if_exists } : {}),
  };
}

/**
 * Whether QuickBooks refused a change because its object had changed since it was read.
 *
 * @param {any} record
 */
export const isOutdated = (record) => record.error?.details?.status_code === OUT_OF_DATE;
const OUT_OF_DATE = 3200;

/**
 * Whether a request failed because another one of its batch did. It is queued again together with that one.
 *
 * @param {any} record
 */
export const isUnsent = (record) => record.error?.code === "dependency_failed";

/**
 * Queues a failed request of a batch again, and what was not sent because of it. Returns its successor. Without a body,
 * its copy is queued.
 *
 * @param {any} record
 * @param {Record<string, unknown>} body
 * @param {(status: number) => void} [onStatus]
 */
export async function continueBatch(record, body = {}, onStatus = undefined) {
  const queued = await queuedToContinue(record, { body, query: forced(record), onStatus });
  return queued.find((one) => one.batch_position === record.batch_position);
}

/**
 * Queues what was not sent because of a request that QuickBooks has executed after all. Returns the first of these
 * requests.
 *
 * @param {any} record
 */
export async function continueWithout(record) {
  const [first] = await queuedToContinue(record, {});
  return first;
}

/**
 * @param {any} record
 * @param {{ body?: Record<string, unknown>, query?: Record<string, unknown>, onStatus?: (status: number) => void }} options
 */
async function queuedToContinue(record, { body, ...options }) {
  const path = ["connections", record.connection_id, "batches", record.batch_id, "continue"];
  return (await call("POST", path, { body: { ...body, request_id: record.id }, ...options })).data;
}

/**
 * Whoever decides to queue a write again that may have been executed has looked.
 *
 * @param {any} record
 */
export const forced = (record) => (isUnsettled(record) ? { force: true } : {});

/**
 * Returns the name of the call with which `queueAgain` queues a record, for its permissions.
 *
 * @param {any} record
 */
export function againAction(record) {
  if (!isReplaced(record)) return "queue";
  if (isUnsettled(record)) return "force";
  return record.batch_id ? "continue_batch" : "queue_again";
}

/**
 * Queues a copy of a record and returns the new record. With the same `key`, it is queued once. All people together
 * queue one copy of a request that failed. Whoever calls this has decided about a write whose outcome is unknown.
 *
 * @param {any} record
 * @param {string} key
 */
export async function queueAgain(record, key) {
  if (isReplaced(record) && record.batch_id) return continueBatch(record);
  if (isReplaced(record)) {
    return (await call("POST", ["queued_requests", record.id, "queue_again"], { query: forced(record) })).data;
  }
  return (
    await call("POST", ["connections", record.connection_id, "queued_requests"], {
      body: contentOf(record),
      headers: { "Idempotency-Key": key },
    })
  ).data;
}

/**
 * Queues what a person has written, and returns the new request. If it began as the copy of a request that failed, it
 * is queued in place of that one.
 *
 * @param {string} connection
 * @param {any} source
 * @param {Record<string, unknown>} body
 * @param {string} key
 * @param {(status: number) => void} onStatus
 */
export async function queueDraft(connection, source, body, key, onStatus) {
  const replaced = source && isReplaced(source) && source.connection_id === connection ? source : null;
  if (replaced?.batch_id) {
    // A batch has one lane, and its continuation keeps it.
    const correction = Object.entries(body).filter(([name]) => name !== "priority");
    return continueBatch(replaced, Object.fromEntries(correction), onStatus);
  }
  const { data } = await call("POST", ["connections", connection, "queued_requests"], {
    body: { ...body, ...(replaced ? { replaces: replaced.id } : {}) },
    query: replaced ? forced(replaced) : {},
    headers: { "Idempotency-Key": key },
    onStatus,
  });
  return data;
}

/** Returns the address at which a copy of a record can be edited and queued. */
export const editAddress = ({ connection_id: connection, request_name: type, id }) =>
  url("/compose", { connection, type, from: id });

/** Returns a new idempotency key. Pages without https have no `randomUUID`. */
export const newKey = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
