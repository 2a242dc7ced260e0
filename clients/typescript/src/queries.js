// Which queries can be sent in pages.
import { SINGLE } from "./schema/facts.js";

// Iterators exist since QBXML 5.0.
const WITHOUT_ITERATORS = /^[1-4]\./;

/**
 * Whether the service may send a request in pages: its response may be large, and it can iterate.
 * @param {object} request @param {{ version?: string | undefined }} options
 */
export function canBePaged(request, options) {
  if (WITHOUT_ITERATORS.test(options.version ?? "")) return false;
  return Object.entries(request).every(
    ([name, query]) => SINGLE[name] !== undefined && !["@iterator", ...SINGLE[name]].some((member) => member in query),
  );
}
