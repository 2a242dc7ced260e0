// Queueing a request again: as a copy, or edited in Compose.
import { call } from "./api.js";
import { url } from "./router.js";
import { declarations } from "./versions.js";

/** The service takes a `send_by` that is a minute ahead, in milliseconds, with a reserve for the call. */
const MIN_AHEAD = 70_000;

/**
 * Whether a request is a write of which nobody knows whether QuickBooks executed it.
 *
 * @param {any} record
 */
export const isUnsettled = (record) => record.executed === "unknown";

/**
 * Whether a request failed or was discarded. It is queued again once, whoever does it and whether or not it is edited.
 *
 * @param {any} record
 */
export const isReplaced = (record) => ["error", "discarded"].includes(record.state);

/**
 * Returns a record as the body of a new request, with the version of QBXML and the webhook URL of the record; null
 * means no webhook. A generated requestID is left out: it is the ID of the record. So is a time that has passed.
 */
export function contentOf({ id, request_xml: xml, request_json: { version }, webhook_url, label, metadata, send_by }) {
  const isAhead = send_by && Date.parse(send_by) > Date.now() + MIN_AHEAD;
  return {
    request_xml: declarations(version) + xml.replace(` requestID="${id}"`, ""),
    webhook_url,
    ...(label ? { label } : {}),
    ...(metadata && Object.keys(metadata).length ? { metadata } : {}),
    ...(isAhead ? { send_by } : {}),
  };
}

/**
 * Queues a copy of a record and returns the new record. With the same `key`, it is queued once. All people together
 * queue one copy of a request that failed. Whoever calls this has decided about a write whose outcome is unknown.
 *
 * @param {any} record
 * @param {string} key
 */
export async function queueAgain(record, key) {
  if (isReplaced(record)) {
    const query = isUnsettled(record) ? { force: true } : {};
    return (await call("POST", ["queued_requests", record.id, "queue_again"], { query })).data;
  }
  return (
    await call("POST", ["connections", record.connection_id, "queued_requests"], {
      body: contentOf(record),
      headers: { "Idempotency-Key": key },
    })
  ).data;
}

/** Returns the address at which a copy of a record can be edited and queued. */
export const editAddress = ({ connection_id: connection, request_name: type, id }) =>
  url("/compose", { connection, type, from: id });

/** Returns a new idempotency key. Pages without https have no `randomUUID`. */
export const newKey = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
