// The results of requests.
import { failureOf } from "./errors.js";
import { LISTS } from "./schema/facts.js";

/** @import { QueuedRequest } from "./schema/records.cjs" */

/** Return the result of a request that has ended, with an empty list for each missing one. @param {QueuedRequest} record */
export function resultOf(record) {
  if (record.state !== "response_received" || !record.result) throw failureOf(record);
  return withLists(record.request_name, record.result);
}

/** @param {string} name @param {object} result @returns {any} */
export function withLists(name, result) {
  return { ...Object.fromEntries((LISTS[name] ?? []).map((member) => [member, []])), ...result };
}
