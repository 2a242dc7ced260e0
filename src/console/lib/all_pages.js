// The pages of an iterated query together: how many objects they have, and all of them as one result.
import { listOf, resultsOf } from "./result_rows.js";

/**
 * Returns how many objects QuickBooks has behind a page, or null if it has not said so.
 *
 * @param {any} responseJson
 * @returns {number | null}
 */
export function remainingOf(responseJson) {
  const answers = (responseJson ?? []).flatMap((/** @type {any} */ set) => Object.values(set.QBXMLMsgsRs ?? {}));
  const texts = answers.flatMap(listOf).map((/** @type {any} */ one) => one?.["@iteratorRemainingCount"]);
  const text = texts.find((/** @type {any} */ one) => one !== undefined && one !== "");
  return text === undefined || Number.isNaN(Number(text)) ? null : Number(text);
}

/**
 * Returns how many objects a page has.
 *
 * @param {any} responseJson
 */
export const countOf = (responseJson) => resultsOf(responseJson).reduce((sum, [, rows]) => sum + rows.length, 0);

/**
 * Whether a response alone is known to have all objects of its query: QuickBooks says that no other page follows, or
 * the query has neither pages nor a maximum.
 *
 * @param {{state: string, request_name: string, page?: number, request_json?: any, response_json?: any}} record
 */
export function isComplete({ state, request_name: name, page, request_json: json, response_json: response }) {
  const request = json?.request;
  const isOfObjects = name.endsWith("QueryRq") && !name.endsWith("ReportQueryRq");
  if (state !== "response_received" || !isOfObjects || !request || Number(page) > 1) return false;
  if (request.attributes?.iterator) return remainingOf(response) === 0;
  return !(request.children ?? []).some((/** @type {{name: string}} */ child) => child.name === "MaxReturned");
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
