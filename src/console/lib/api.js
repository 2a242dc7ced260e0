// Calls the REST API. The API key is kept in the tab's session storage and never in a URL.
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { clearDrafts } from "./drafts.js";
import { blockPolls, noteLoad, poll, watchCall } from "./polling.js";
import { pathOf, ROOT } from "./router.js";

const KEY = "qbxml-queue.key";
const SCOPE = "qbxml-queue.scope";
const APP = "qbxml-queue.app";
const RETRY_MILLISECONDS = [400, 1500];
const TIMEOUT_MILLISECONDS = 35_000;
/** A read is not repeated by itself if the service asks for a longer pause. */
const MAX_RETRY_AFTER_SECONDS = 2;

const signedOut = new Set();

/**
 * @typedef {AbortSignal & {isPoll?: boolean}} Signal A poll is not repeated by itself: the next one comes soon.
 *
 * @typedef {object} CallOptions
 * @property {string | null} [key]
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

export const session = {
  get key() {
    return sessionStorage.getItem(KEY);
  },
  get scope() {
    return sessionStorage.getItem(SCOPE);
  },
  get canChange() {
    return this.scope === "full";
  },
  /** Whether the key may approve and reject what others have queued. */
  get canDecide() {
    return this.canChange || this.scope === "approve";
  },
  onSignOut(listener) {
    signedOut.add(listener);
    return () => signedOut.delete(listener);
  },
};

/**
 * Checks an API key and keeps it. Throws ApiError.
 *
 * @param {string} key
 */
export async function signIn(key) {
  const { data } = await request("GET", ["api_key"], { key });
  // Another app must not see the drafts that an expired key has left.
  clearDrafts(data.app_id);
  sessionStorage.setItem(KEY, key);
  sessionStorage.setItem(SCOPE, data.scope);
  sessionStorage.setItem(APP, data.app_id);
}

/** Returns the id of the key's app. */
export async function appOfKey() {
  if (!sessionStorage.getItem(APP)) sessionStorage.setItem(APP, (await call("GET", ["api_key"])).data.app_id);
  return sessionStorage.getItem(APP);
}

/** Forgets the key. A `reason` is shown at the sign-in: then the key has ended, not the work, and drafts are kept. */
export function signOut(reason) {
  for (const name of [KEY, SCOPE, APP]) sessionStorage.removeItem(name);
  if (!reason) clearDrafts();
  for (const listener of signedOut) listener(reason);
}

/**
 * Calls the API and returns the JSON body, or the text of any other response. `segments` are those of the path below
 * `/api/v1`. Reads are retried. Throws ApiError.
 *
 * @param {string} method
 * @param {string[]} segments
 * @param {CallOptions} options
 * @returns {Promise<any>}
 */
export async function call(method, segments, options = {}) {
  try {
    return await request(method, segments, { key: session.key, ...options });
  } catch (error) {
    if (error.status === 401) signOut("Your API key is no longer valid. Sign in again.");
    throw error;
  }
}

/**
 * @param {string} method
 * @param {string[]} segments
 * @param {CallOptions} options
 */
async function request(method, segments, { key, query, body, headers, signal, onStatus } = {}) {
  const address = new URL(`${ROOT}/api/v1/${pathOf(segments)}`, location.origin);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== "") address.searchParams.set(name, String(value));
  }
  /** @type {RequestInit & {headers: Record<string, string>}} */
  const options = {
    method,
    // The browser neither adds a key that it has stored, nor asks for a user name when the key is wrong.
    credentials: "omit",
    cache: "no-store",
    headers: { Accept: "application/json", Authorization: `Basic ${basic(key)}`, ...headers },
  };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
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
  let error = {};
  try {
    error = JSON.parse(text).error ?? {};
  } catch {
    // The response of a proxy has no error object, only a status.
  }
  const retryAfter = Number(response.headers.get("Retry-After")) || 0;
  blockPolls(retryAfter);
  const message = error.message ?? `The service answered with status ${response.status}.`;
  throw new ApiError(response.status, error.code ?? "http_error", message, error.details, retryAfter);
}

function basic(key) {
  const bytes = new TextEncoder().encode(`${key}:`);
  return btoa(String.fromCharCode(...bytes));
}

/**
 * Polls while the component is shown. `wait(n)` is the pause before poll `n`; without it there is none.
 *
 * @param {() => unknown} run
 * @param {((n: number) => number) | null} wait
 * @param {unknown[]} dependencies
 */
export function usePolling(run, wait, dependencies) {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => (wait ? poll(() => latest.current(), wait) : undefined), [Boolean(wait), ...dependencies]);
}

/**
 * Loads something for a component, and again about every `refresh` milliseconds (`polling.js` decides when). Returns
 * `{data, error, loading, reload}`. While it reloads, it keeps the old data. The dependencies are the question: once
 * they change, data and errors of the previous question are not returned. With `showsAge` the shell says how old the
 * data are, and can load them again, also if they do not poll.
 *
 * @typedef {{question?: symbol, loading: boolean, data?: any, error?: any, at?: number}} Loading
 * @param {(signal: Signal) => Promise<any>} load
 * @param {unknown[]} dependencies
 * @param {{refresh?: number, showsAge?: boolean}} options
 */
export function useLoad(load, dependencies, { refresh = 0, showsAge = Boolean(refresh) } = {}) {
  const question = useMemo(() => Symbol("question"), dependencies);
  const [state, setState] = useState(/** @type {Loading} */ ({ question, loading: true }));
  const latest = useRef({ load, question });
  latest.current = { load, question };
  const running = useRef(/** @type {AbortController | null} */ (null));
  const reload = useCallback(async (/** @type {{data?: any, isPoll?: boolean}} */ changes = {}) => {
    const { load: run, question: asked } = latest.current;
    if (changes.data) {
      setState({ question: asked, data: changes.data, loading: false, at: Date.now() });
      return;
    }
    running.current?.abort();
    const controller = new AbortController();
    const signal = Object.assign(controller.signal, { isPoll: Boolean(changes.isPoll) });
    running.current = controller;
    setState((former) => {
      if (former.question !== asked) return { question: asked, loading: true };
      return former.loading ? former : { ...former, loading: true };
    });
    try {
      const data = await run(signal);
      if (!signal.aborted) setState({ question: asked, data, loading: false, at: Date.now() });
    } catch (error) {
      if (!signal.aborted) setState(({ data, at }) => ({ question: asked, data, at, error, loading: false }));
    }
  }, []);
  // Start the call before the browser draws the skeleton.
  useLayoutEffect(() => {
    reload();
    return () => running.current?.abort();
  }, dependencies);
  usePolling(() => reload({ isPoll: true }), refresh ? () => refresh : null, [refresh, ...dependencies]);
  const { data, error, loading, at } = state.question === question ? state : /** @type {Loading} */ ({ loading: true });
  // Without data, the component itself shows the error.
  useFreshnessOf(showsAge, { at, error: at && error, reload: refresh ? undefined : reload });
  return { data, error, loading, reload };
}

/** Lets the shell say how old the data of a component are. With `reload`, it can load them again; a poll needs none. */
export function useFreshnessOf(isShown, { at, error, reload }) {
  const [key] = useState(() => Symbol("load"));
  useEffect(() => {
    if (isShown) noteLoad(key, { at, error, reload });
  }, [isShown, at, error, reload]);
  useEffect(() => () => noteLoad(key, null), [isShown]);
}
