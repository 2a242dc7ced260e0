// Calls of the service over HTTP, with retries of reads, and errors in words.
import { blockPolls, watchCall } from "./polling.js";
import { pathOf, ROOT } from "./router.js";

const RETRY_MILLISECONDS = [400, 1500];
const TIMEOUT_MILLISECONDS = 35_000;
/** A read is not repeated by itself if the service asks for a longer pause. */
const MAX_RETRY_AFTER_SECONDS = 2;

/**
 * @typedef {AbortSignal & {isPoll?: boolean}} Signal A poll is not repeated by itself: the next one comes soon.
 *
 * @typedef {object} CallOptions
 * @property {Record<string, unknown>} [query] Parameters; empty ones are left out.
 * @property {unknown} [body]
 * @property {Record<string, string>} [headers]
 * @property {Signal} [signal]
 * @property {(status: number) => void} [onStatus] Gets the status of an answer without an error.
 */

export class ApiError extends Error {
  /**
   * @param {number} status 0 when the service could not be reached.
   * @param {string} code
   * @param {string} message
   * @param {Record<string, any>} details
   * @param {number} retryAfter The seconds that the service asks to wait.
   */
  constructor(status, code, message, details = {}, retryAfter = 0) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/**
 * Calls the API with a credential: an API key or a token, or null. Returns the JSON body, or the text of any other
 * response. Reads are retried. Throws ApiError.
 *
 * @param {string | null} credential
 * @param {string} method
 * @param {string[]} segments Those of the path below `/api/v1`.
 * @param {CallOptions} options
 * @returns {Promise<any>}
 */
export async function request(credential, method, segments, { query, body, headers, signal, onStatus } = {}) {
  const address = new URL(`${ROOT}/api/v1/${pathOf(segments)}`, location.origin);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") address.searchParams.set(name, String(value));
  }
  const options = {
    ...optionsOf(method, body),
    // The browser neither adds a key that it has stored, nor asks for a user name when the key is wrong.
    credentials: /** @type {RequestCredentials} */ ("omit"),
  };
  Object.assign(options.headers, { Authorization: basic(credential) }, headers);
  const waits = method === "GET" && !signal?.isPoll ? RETRY_MILLISECONDS : [];
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await once(address, options, signal, onStatus);
    } catch (error) {
      const temporary =
        error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 502);
      if (!temporary || attempt >= waits.length || error.retryAfter > MAX_RETRY_AFTER_SECONDS) throw error;
      const wait = Math.max(waits[attempt] * (0.75 + Math.random() / 2), error.retryAfter * 1000);
      await new Promise((resolve) => setTimeout(resolve, wait));
      if (signal?.aborted) throw error;
    }
  }
}

/**
 * Calls `/session` or a path below it. Only these calls send the cookie of the person. Throws ApiError.
 *
 * @param {string[]} segments
 * @param {unknown} body
 * @returns {Promise<any>}
 */
export async function requestSession(segments, body) {
  const address = new URL(`${ROOT}/${pathOf(["session", ...segments])}`, location.origin);
  return once(address, { ...optionsOf("POST", body), credentials: "same-origin" });
}

/**
 * @param {string} method
 * @param {unknown} body
 */
function optionsOf(method, body) {
  /** @type {RequestInit & {headers: Record<string, string>}} */
  const options = { method, cache: "no-store", headers: { Accept: "application/json" } };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  return options;
}

/**
 * @param {URL} address
 * @param {RequestInit} options
 * @param {Signal} [signal]
 * @param {(status: number) => void} [onStatus]
 */
async function once(address, options, signal, onStatus) {
  const timeout = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  const ended = watchCall();
  let response;
  let text;
  try {
    response = await fetch(address, { ...options, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    const late = error.name === "TimeoutError";
    throw new ApiError(
      0,
      "unreachable",
      late ? "The service did not answer in time." : "The service cannot be reached.",
    );
  } finally {
    ended();
  }
  if (response.ok) {
    onStatus?.(response.status);
    if (!text) return null;
    return (response.headers.get("Content-Type") ?? "").includes("json") ? JSON.parse(text) : text;
  }
  throw errorOf(response, text);
}

/**
 * @param {Response} response
 * @param {string} text
 */
function errorOf(response, text) {
  /** @type {{code?: string, message?: string, details?: Record<string, any>}} */
  let error = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    // The response of a proxy has no error object, only a status.
  }
  const retryAfter = Number(response.headers.get("Retry-After")) || 0;
  blockPolls(retryAfter);
  const message = error.message ?? `The service answered with status ${response.status}.`;
  return new ApiError(response.status, error.code ?? "http_error", message, error.details, retryAfter);
}

/**
 * Returns the value of the header Authorization.
 *
 * @param {string | null} credential
 */
export function basic(credential) {
  const bytes = new TextEncoder().encode(`${credential}:`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
