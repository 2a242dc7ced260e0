// Errors of requests in the words of people. The texts of the API name ids and members of its records.

/** @typedef {{code: string, message: string, details?: Record<string, any>}} RequestError */

/** @type {Record<string, {message?: string, hint: string}>} */
const WORDS = {
  dependency_failed: {
    message: "It was not sent, because another request of its batch failed.",
    hint: "The page of that request says why. Remove the cause. Then choose Continue there: it queues the rest of the batch again.",
  },
  reference_unresolved: {
    hint: "Compare it with the response to that request. Then correct this request and queue it again.",
  },
  reference_invalid: {
    hint: "Compare it with the response to that request. Then correct this request and queue it again.",
  },
  response_too_large: {
    hint: "Ask for less: fetch all in pages, choose a smaller number, narrow the filters, or name the fields that you need. If the response is small, the log of the Web Connector shows why it did not arrive.",
  },
};

/** A request, as a message of the API about a reference names it. */
const REQUEST_ID = /(the request )?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/**
 * Returns an error in the words of people: `{message, hint}`. Without a hint, it is undefined.
 *
 * @param {RequestError} error
 */
export function wordsOf({ code, message, details }) {
  const words = WORDS[code];
  const said = code.startsWith("reference_") ? message.replace(REQUEST_ID, "another request") : message;
  return { message: words?.message ?? said, hint: words?.hint ?? details?.hint };
}
