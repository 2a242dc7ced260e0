// What has an ID: a request, a connection, or nothing.
import { call } from "./api.js";
import { ID } from "./router.js";

const WHOLE_ID = new RegExp(`^${ID}$`);
const ABSENT = new Set([404, 410]);

/**
 * Returns a text in lower case if it is an ID, or null.
 *
 * @param {string} text
 */
export const idOf = (text) => text.trim().toLowerCase().match(WHOLE_ID)?.[0] ?? null;

/**
 * Returns the request with an ID, as a hit of a search, and the connection with it; null for what does not exist.
 * Throws ApiError.
 *
 * @param {string} id
 * @param {AbortSignal} signal
 */
export async function readById(id, signal) {
  /** @type {(kind: string, one: string) => Promise<any>} */
  const read = (kind, one) =>
    call("GET", [kind, one], { signal }).then(
      ({ data }) => data,
      (error) => {
        if (ABSENT.has(error.status)) return null;
        throw error;
      },
    );
  const [request, connection] = await Promise.all([read("queued_requests", id), read("connections", id)]);
  return { connection, request: request && hitOf(request, await read("connections", request.connection_id)) };
}

const hitOf = ({ error, ...request }, connection) => ({
  ...request,
  connection_name: connection?.name ?? null,
  matched: ["id"],
  cause: error && String(error.details?.status_code ?? error.details?.hresult ?? error.code),
  message: error?.message,
});
