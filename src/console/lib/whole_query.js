// The query that fetches all objects of one that has reached its maximum.
import { contentOf } from "./queue_again.js";
import { requestType } from "./schema.js";

/** The smallest size of a page: an iterated query has at most 10,000 pages, and each page is a request. */
const PAGE_SIZE = 100;

/**
 * Returns the body of a new request for all objects, with what a copy of the record keeps (`contentOf`). It comes in
 * pages, of its maximum or of PAGE_SIZE if that is more. QuickBooks has no pages for some types: their query has no
 * maximum.
 *
 * @param {any} record
 */
export async function wholeQuery(record) {
  const { version, request } = record.request_json;
  const { priority, ...kept } = contentOf(record);
  // The request is JSON, and the copy gets a requestID of its own.
  const others = { ...kept, request_xml: undefined };
  const attributes = { ...request.attributes, request_id: undefined };
  const isLimit = (/** @type {{name: string}} */ { name }) => name === "MaxReturned";
  if (!("iterator" in (await requestType(request.name)).attributes)) {
    const children = request.children.filter((child) => !isLimit(child));
    const whole = { ...request, attributes, children };
    return { ...others, ...(priority ? { priority } : {}), request_json: { version, request: whole } };
  }
  const children = request.children.map((child) =>
    isLimit(child) ? { ...child, text: String(Math.max(Number(child.text), PAGE_SIZE)) } : child,
  );
  // The service refuses pages with a low priority.
  const paged = { ...request, attributes: { ...attributes, iterator: "Start" }, children };
  return { ...others, request_json: { version, request: paged } };
}
