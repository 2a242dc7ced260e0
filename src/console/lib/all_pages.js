// The pages of an iterated query together: how many objects they have, and all of them as one result.
import { listOf, resultsOf } from "./result_rows.js";

/** QuickBooks keeps deletions for a limited time, so no response is known to have all of them. */
const KEPT_FOR_A_TIME = new Set(["TxnDeletedQueryRq", "ListDeletedQueryRq"]);

/**
 * Returns the answers of a response: the elements with a status code each.
 *
 * @param {any} responseJson
 * @returns {any[]}
 */
const answersOf = (responseJson) =>
  (responseJson ?? []).flatMap((/** @type {any} */ set) => Object.values(set.QBXMLMsgsRs ?? {})).flatMap(listOf);

/**
 * Returns how many objects QuickBooks has behind a page, or null if it has not said so.
 *
 * @param {any} responseJson
 * @returns {number | null}
 */
export function remainingOf(responseJson) {
  const texts = answersOf(responseJson).map((one) => one?.["@iteratorRemainingCount"]);
  const text = texts.find((one) => one !== undefined && one !== "");
  return text === undefined || Number.isNaN(Number(text)) ? null : Number(text);
}

/**
 * Returns how many objects a page has.
 *
 * @param {any} responseJson
 */
export const countOf = (responseJson) => resultsOf(responseJson).reduce((sum, [, rows]) => sum + rows.length, 0);

/**
 * Whether QuickBooks answered a query for objects without a warning. A warning can mean that objects are missing: some
 * were not found (500), or the response was cut off (540).
 *
 * @param {{state: string, request_name: string, response_json?: any}} record
 */
export function isWithoutWarning({ state, request_name: name, response_json: response }) {
  if (state !== "response_received" || !name.endsWith("QueryRq") || name.endsWith("ReportQueryRq")) return false;
  const codes = answersOf(response).map((one) => one?.["@statusCode"]);
  return !KEPT_FOR_A_TIME.has(name) && codes.length > 0 && codes.every((code) => String(code) === "0");
}

/**
 * Whether the response begins with the first object of the query. A query that continues an iterator returns only the
 * objects after those of the earlier pages.
 *
 * @param {{page?: number, request_json?: any}} record
 */
export function isBeginning({ page, request_json: json }) {
  const iterator = json?.request?.attributes?.iterator;
  return Boolean(json?.request) && !(Number(page) > 1) && (iterator === undefined || iterator === "Start");
}

/**
 * Whether a response alone is known to have all objects of its query: it is the first and the last page, and QuickBooks
 * says that no object remains, or the query has neither an iterator nor a maximum. The request alone does not tell: the
 * service may send a query in pages whose stored request has no iterator.
 *
 * @param {{state: string, request_name: string, page?: number, last_page?: boolean | null, request_json?: any,
 *   response_json?: any}} record
 */
export function isComplete(record) {
  if (!isWithoutWarning(record) || !isBeginning(record) || record.last_page !== true) return false;
  const { attributes, children = [] } = record.request_json.request;
  const remaining = remainingOf(record.response_json);
  if (remaining !== null || attributes?.iterator) return remaining === 0;
  return !children.some((/** @type {{name: string}} */ child) => child.name === "MaxReturned");
}

/**
 * Returns how many objects the pages up to `last` have, and how many the query has in all: `{fetched, total}`, from the
 * responses to the first page and to `last`. QuickBooks says with each page how many remain. Without that, null.
 *
 * @param {any} first
 * @param {any} last
 */
export function progressOf(first, last) {
  const [before, behind] = [remainingOf(first), remainingOf(last)];
  if (before === null || behind === null) return null;
  const total = countOf(first) + before;
  return { fetched: total - behind, total };
}

/**
 * Returns the objects of several responses as one result. If they are of several kinds, each has its kind.
 *
 * @param {any[]} responses
 * @param {string} title for objects of several kinds
 * @returns {[string, any[]]}
 */
export function joined(responses, title) {
  const results = /** @type {[string, any[]][]} */ (responses.flatMap(resultsOf));
  const kinds = new Set(results.map(([name]) => name));
  if (kinds.size === 1) return [[...kinds][0], results.flatMap(([, rows]) => rows)];
  return [title, results.flatMap(([Kind, rows]) => rows.map((row) => ({ Kind, ...row })))];
}
