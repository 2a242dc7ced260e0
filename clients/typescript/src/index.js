// A client for qbxml-queue, the REST API for QuickBooks Desktop. index.d.ts describes it.
import { routesOf } from "./api.js";
import { Batch, bodyOf } from "./batches.js";
import { Place, TYPES, isChange } from "./changes.js";
import { ApiError, InvalidSignature, ReadOnlyKey, StillWaiting } from "./errors.js";
import { Unanswered, mayHaveArrived } from "./keys.js";
import { PAGE_SIZE, WAIT_SECONDS, checkOptions, checkedSeconds, segment } from "./options.js";
import { canBePaged } from "./queries.js";
import { reportsOf } from "./reports.js";
import { addLazily, resourceOf } from "./resources.js";
import { resultOf, withLists } from "./results.js";
import { KINDS } from "./schema/kinds.js";
import { VERSION } from "./schema/version.js";
import { SECRET } from "./secrets.js";

export {
  Ambiguous,
  AnswerLost,
  ApiError,
  Conflict,
  CustomFieldsNotWritten,
  DependencyFailed,
  Discarded,
  InvalidSignature,
  NotFound,
  OutcomeUnknown,
  QbxmlQueueError,
  QuickBooksError,
  ReadOnlyKey,
  RequestFailed,
  ResultUnavailable,
  StaleEditSequence,
  StillQueued,
  StillWaiting,
} from "./errors.js";

/** @import { AddOptions, ApproveOptions, BatchOptions, BooksChange, CallOptions, ChangesOptions, ContinueOptions, Cursor, Environment, EventsOptions, ExecuteOptions, IterateOptions, QueueOptions, RejectOptions } from "./calls.cjs" */
/** @import { Batch as BatchType } from "./index.js" */
/** @import { Kind, Service } from "./internal.js" */
/** @import { Decisions, QueuedRequest } from "./schema/records.cjs" */

const USER_AGENT = `qbxml-queue-javascript/${VERSION}`;
const CALL_SECONDS = 30;
const MAX_ATTEMPTS = 6;
const FIRST_DELAY_SECONDS = 0.5;
const MAX_DELAY_SECONDS = 60;
const FIRST_POLL_SECONDS = 0.5;
const MAX_POLL_SECONDS = 10;
// While a session is open, a request ends within a second or two. The service looks the more often, the shorter a call
// is held.
const FIRST_HOLD_SECONDS = 2;
const MAX_HOLD_SECONDS = 20;
const MAX_AGE_SECONDS = 300;
const PATH = /^(?:\/[A-Za-z0-9_-]+)+$/;
const TIMESTAMP = /^[0-9]{1,12}$/;
const LISTED = 100;
const ENDED = new Set(["response_received", "error", "discarded"]);

/** @param {ApproveOptions} options */
const accepting = ({ acceptValues = false }) => (acceptValues ? { accept_values: true } : {});

/** Return the body that approves revisions of requests. @param {Record<string, number>} revisions @param {ApproveOptions} options */
function seen(revisions, options) {
  const requests = Object.entries(revisions).map(([id, revision]) => ({ id: segment(id), revision }));
  return { requests, ...accepting(options) };
}

/** Return the options that are parameters of the URL. @param {QueueOptions | ContinueOptions} options */
function parametersOf({ validate, transliterate, force }) {
  // The service refuses other texts than true and false.
  const given = Object.entries({ validate, transliterate, force }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

export class Client {
  #base;
  #authorization;
  #connection;
  #fetch;
  #sleep;
  #clock;
  #newKey;
  #chance;
  #unanswered;
  /** @type {string | undefined} */
  #scope;

  static {
    addLazily(this.prototype, ["api"], (client) => routesOf(client.#service()));
    addLazily(this.prototype, ["reports"], (client) => reportsOf(client.#service()));
    addLazily(this.prototype, Object.keys(KINDS), (client, name) =>
      resourceOf(/** @type {Kind} */ (KINDS[name]), client.#service()),
    );
  }

  /**
   * @param {string} baseUrl
   * @param {string} apiKey
   * @param {string} connectionId
   * @param {Environment} [environment]
   */
  constructor(baseUrl, apiKey, connectionId, environment = {}) {
    checkOptions("Client", environment);
    this.#base = baseUrl.replace(/\/+$/, "");
    this.#authorization = `Basic ${btoa(`${apiKey}:`)}`;
    this.#connection = `/api/v1/connections/${segment(connectionId)}`;
    this.#fetch = environment.fetch ?? globalThis.fetch;
    this.#sleep =
      environment.sleep ??
      ((seconds) =>
        new Promise((resolve) => {
          setTimeout(resolve, seconds * 1000);
        }));
    this.#clock = environment.clock ?? (() => performance.now() / 1000);
    this.#newKey = environment.newKey ?? (() => crypto.randomUUID());
    this.#chance = environment.chance ?? Math.random;
    this.#unanswered = new Unanswered(this.#clock);
  }

  /** @returns {Service} */
  #service() {
    return {
      connectionId: this.#connection.split("/").at(-1) ?? "",
      queue: (request, options) => this.#queue(request, options),
      wait: (id, timeout) => this.wait(id, timeout),
      pages: (id, deadline) => this.#pages(id, deadline),
      send: (method, path, options) => this.#send(method, path, options, CALL_SECONDS),
      batch: (key, options) => new Batch(this, key, options),
      now: this.#clock,
      newKey: this.#newKey,
    };
  }

  static fromEnvironment() {
    const [baseUrl, apiKey, connectionId] = ["BASE_URL", "API_KEY", "CONNECTION_ID"].map((name) => {
      /** @type {string | undefined} */
      const value = /** @type {any} */ (globalThis).process?.env[name];
      if (!value) throw new Error(`${name} is not set.`);
      return value;
    });
    return new Client(
      /** @type {string} */ (baseUrl),
      /** @type {string} */ (apiKey),
      /** @type {string} */ (connectionId),
    );
  }

  /** @param {object} request @param {ExecuteOptions} [options] */
  async execute(request, options = {}) {
    checkOptions("execute", options);
    const deadline = this.#clock() + checkedSeconds(options.timeout ?? WAIT_SECONDS);
    /** @type {QueueOptions} */
    // The low lane takes no request that may be sent in pages.
    const queueOptions =
      options.priority !== "low" && canBePaged(request, options) ? { iterate: "auto", ...options } : options;
    const { id } = await this.#queue(request, queueOptions);
    /** @type {any} */
    let whole;
    for await (const result of this.#pages(id, () => deadline)) {
      whole ??= result;
      if (whole === result) continue;
      for (const [name, value] of Object.entries(result)) {
        if (Array.isArray(value)) whole[name] = [...(whole[name] ?? []), ...value];
      }
    }
    return whole;
  }

  /** @param {object} query @param {IterateOptions} [options] @returns {AsyncGenerator<any, void>} */
  iterate(query, options = {}) {
    checkOptions("iterate", options);
    const [[name, content]] = /** @type {[[string, object]]} */ (Object.entries(query));
    if (options.pageSize !== undefined && "MaxReturned" in content) {
      throw new TypeError("pageSize and MaxReturned are the same limit. Give one of them.");
    }
    const seconds = checkedSeconds(options.timeout ?? WAIT_SECONDS);
    return this.#iterate(
      { [name]: { "@iterator": "Start", MaxReturned: options.pageSize ?? PAGE_SIZE, ...content } },
      options,
      seconds,
    );
  }

  /** @param {object} request @param {IterateOptions} options @param {number} seconds @returns {AsyncGenerator<any, void>} */
  async *#iterate(request, options, seconds) {
    const { id } = await this.#queue(request, options);
    yield* this.#pages(id, () => this.#clock() + seconds);
  }

  /**
   * Yield the results of the pages of a query, in order. A request that does not iterate has one.
   * @param {string} id @param {() => number} deadline @returns {AsyncGenerator<any, void>}
   */
  async *#pages(id, deadline) {
    /** @type {Map<number, string>} */
    const ids = new Map([[1, id]]);
    for (let number = 1; ; number++) {
      const until = deadline();
      const record = await this.wait(await this.#page(ids, number, until), until - this.#clock());
      yield resultOf(record);
      if (record.last_page !== false) return;
    }
  }

  /**
   * Return the id of a page, as soon as it exists: when the page before it has ended.
   * @param {Map<number, string>} ids @param {number} number @param {number} deadline @returns {Promise<string>}
   */
  async #page(ids, number, deadline) {
    for (let delay = FIRST_POLL_SECONDS; ; delay = Math.min(delay * 1.5, MAX_POLL_SECONDS)) {
      const known = ids.get(number);
      if (known) return known;
      const parameters = {
        query_id: /** @type {string} */ (ids.get(1)),
        sort: "inserted_at",
        sort_direction: "asc",
        page_size: String(LISTED),
        page: String(Math.floor((number - 1) / LISTED) + 1),
        bodies: "false",
      };
      /** @type {any} */
      const answer = await this.call("GET", `${this.#connection}/queued_requests`, { parameters });
      for (const item of answer.data) ids.set(item.page, item.id);
      if (ids.has(number)) continue;
      const remaining = deadline - this.#clock();
      if (remaining <= 0) throw new StillWaiting(await this.record(/** @type {string} */ (ids.get(number - 1))));
      await this.#sleep(Math.min(delay, remaining));
    }
  }

  /** @param {string} [idempotencyKey] @param {BatchOptions} [options] @returns {BatchType} */
  batch(idempotencyKey, options = {}) {
    checkOptions("batch", options);
    if (idempotencyKey !== undefined && typeof idempotencyKey !== "string") {
      throw new TypeError('The idempotency key of a batch must be a text: batch("order-1042").');
    }
    /** @type {any} */ // It has resources, whose types are those of index.d.ts.
    const batch = new Batch(this, idempotencyKey ?? this.#newKey(), options);
    return batch;
  }

  /** Queue the requests of a batch. @param {object} body @param {string} idempotencyKey @param {QueueOptions} options */
  async queueBatch(body, idempotencyKey, options) {
    await this.#requireFullScope();
    const path = `${this.#connection}/queued_requests/batch`;
    /** @type {any} */
    const answer = await this.call("POST", path, { parameters: parametersOf(options), body, idempotencyKey });
    return answer.data;
  }

  /** Return the seconds of the clock. */
  now() {
    return this.#clock();
  }

  /** @param {Cursor} cursor @param {EventsOptions} [options] @returns {AsyncGenerator<any, void>} */
  events(cursor, options = {}) {
    checkOptions("events", options);
    return this.#events(cursor, options);
  }

  /** @param {Cursor} cursor @param {EventsOptions} options @returns {AsyncGenerator<any, void>} */
  async *#events(cursor, { everyConnection = false }) {
    let after = await cursor.load();
    for (let hasMore = true; hasMore;) {
      /** @type {Record<string, string>} */
      const parameters = everyConnection ? {} : { connection_id: this.#connection.split("/").at(-1) ?? "" };
      if (after) parameters.after = after;
      /** @type {any} */
      const feed = await this.call("GET", "/api/v1/events", { parameters });
      for (const event of feed.data) {
        yield eventOf(event);
        await cursor.store(event.cursor);
      }
      [after, hasMore] = [feed.next, feed.has_more];
      await cursor.store(feed.next);
    }
  }

  /** @param {Cursor} cursor @param {ChangesOptions} [options] @returns {AsyncGenerator<BooksChange, void>} */
  changes(cursor, options = {}) {
    checkOptions("changes", options);
    return this.#changes(cursor, options);
  }

  /** @param {Cursor} cursor @param {ChangesOptions} options @returns {AsyncGenerator<BooksChange, void>} */
  async *#changes(cursor, { subscriptionId }) {
    let stored = await cursor.load();
    for (let hasMore = true; hasMore;) {
      const place = new Place(stored);
      const feed = await this.#changesBehind(place, subscriptionId);
      for (const event of feed.data) if (place.passes(event) && isChange(event)) yield event;
      [place.after, hasMore] = [feed.next, feed.has_more];
      const after = String(place);
      if (after !== stored) await cursor.store(after);
      stored = after;
    }
  }

  /**
   * Return the events behind a place. If the feed has no longer kept them, the only one asks for a resync.
   * @param {Place} place @param {string | undefined} subscriptionId @returns {Promise<any>}
   */
  async #changesBehind({ after }, subscriptionId) {
    /** @type {Record<string, string>} */
    const parameters = { connection_id: this.#connection.split("/").at(-1) ?? "", types: TYPES };
    if (subscriptionId !== undefined) parameters.subscription_id = subscriptionId;
    if (after !== undefined) parameters.after = after;
    try {
      return await this.call("GET", "/api/v1/events", { parameters });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "cursor_expired") throw error;
      const reason = "The feed keeps events for seven days, and the program has not read them for longer.";
      const data = [{ type: "subscription.resync_required", object: null, reason }];
      return { data, next: error.details?.oldest, has_more: true };
    }
  }

  /** @param {object} request @param {QueueOptions} [options] @returns {Promise<QueuedRequest>} */
  async queue(request, options = {}) {
    checkOptions("queue", options);
    return this.#queue(request, options);
  }

  /** @param {object} request @param {QueueOptions} options @returns {Promise<QueuedRequest>} */
  async #queue(request, options) {
    const body = bodyOf(request, options);
    await this.#requireFullScope();
    const parameters = parametersOf(options);
    const idempotencyKey = options.idempotencyKey ?? this.#newKey();
    /** @type {any} */
    const answer = await this.call("POST", `${this.#connection}/queued_requests`, { parameters, body, idempotencyKey });
    return answer.data;
  }

  /** @param {string} batchId @param {object} [request] @param {ContinueOptions} [options] @returns {Promise<QueuedRequest[]>} */
  async continueBatch(batchId, request, options = {}) {
    checkOptions("continueBatch", options);
    const path = `${this.#connection}/batches/${segment(batchId)}/continue`;
    const body = bodyOf(request, options);
    await this.#requireFullScope();
    // The service queues each request again once.
    /** @type {any} */
    const answer = await this.#send("POST", path, { parameters: parametersOf(options), body }, CALL_SECONDS, true);
    return answer.data;
  }

  /** @param {string} requestId @returns {Promise<QueuedRequest>} */
  async settle(requestId) {
    const path = `/api/v1/queued_requests/${segment(requestId)}/settle`;
    await this.#requireFullScope();
    // The service queues nothing while its queries wait.
    /** @type {any} */
    const answer = await this.#send("POST", path, {}, CALL_SECONDS, true);
    return answer.data;
  }

  /** @param {string} requestId @param {number} revision @param {ApproveOptions} [options] @returns {Promise<QueuedRequest>} */
  approve(requestId, revision, options = {}) {
    checkOptions("approve", options);
    return this.#decide(`/api/v1/queued_requests/${segment(requestId)}/approve`, { revision, ...accepting(options) });
  }

  /** @param {string} requestId @param {string} reason @param {RejectOptions} [options] @returns {Promise<QueuedRequest>} */
  reject(requestId, reason, options = {}) {
    checkOptions("reject", options);
    return this.#decide(`/api/v1/queued_requests/${segment(requestId)}/reject`, { reason }, options);
  }

  /** @param {Record<string, number>} revisions @param {ApproveOptions} [options] @returns {Promise<Decisions>} */
  approveAll(revisions, options = {}) {
    checkOptions("approve", options);
    return this.#decide(`${this.#connection}/queued_requests/approve`, seen(revisions, options));
  }

  /** @param {string[]} ids @param {string} reason @param {RejectOptions} [options] @returns {Promise<Decisions>} */
  rejectAll(ids, reason, options = {}) {
    checkOptions("reject", options);
    return this.#decide(`${this.#connection}/queued_requests/reject`, { ids: ids.map(segment), reason }, options);
  }

  /** @param {string} batchId @param {Record<string, number>} revisions @param {ApproveOptions} [options] @returns {Promise<Decisions>} */
  approveBatch(batchId, revisions, options = {}) {
    checkOptions("approve", options);
    return this.#decide(`${this.#connection}/batches/${segment(batchId)}/approve`, seen(revisions, options));
  }

  /** @param {string} batchId @param {string} reason @param {RejectOptions} [options] @returns {Promise<Decisions>} */
  rejectBatch(batchId, reason, options = {}) {
    checkOptions("reject", options);
    return this.#decide(`${this.#connection}/batches/${segment(batchId)}/reject`, { reason }, options);
  }

  /** @param {string} path @param {object} body @param {RejectOptions} [options] @returns {Promise<any>} */
  async #decide(path, body, { dependants = false } = {}) {
    await this.#requireFullScope();
    /** @type {Record<string, string>} */
    const parameters = dependants ? { dependants: "true" } : {};
    // What was decided stays decided, with the same answer.
    /** @type {any} */
    const answer = await this.#send("POST", path, { parameters, body }, CALL_SECONDS, true);
    return answer.data;
  }

  /** @param {string} requestId @returns {Promise<QueuedRequest>} */
  record(requestId) {
    return this.#held(requestId, 0);
  }

  /** Return a record. The service may hold the call. @param {string} requestId @param {number} seconds */
  async #held(requestId, seconds) {
    const path = `/api/v1/queued_requests/${segment(requestId)}`;
    /** @type {Record<string, string>} */
    const parameters = { "include[]": "result" };
    if (seconds > 0) Object.assign(parameters, { wait: String(seconds), wait_for: "page" });
    /** @type {any} */
    const answer = await this.#send("GET", path, { parameters }, CALL_SECONDS + seconds);
    return answer.data;
  }

  /** @param {string} requestId @param {number} [timeout] @returns {Promise<QueuedRequest>} */
  async wait(requestId, timeout = WAIT_SECONDS) {
    const deadline = this.#clock() + checkedSeconds(timeout);
    let delay = FIRST_POLL_SECONDS;
    for (let longest = FIRST_HOLD_SECONDS; ; longest = MAX_HOLD_SECONDS) {
      const began = this.#clock();
      const held = Math.max(0, Math.min(Math.floor(deadline - began), longest));
      const record = await this.#held(requestId, held);
      if (ENDED.has(record.state)) return record;
      const remaining = deadline - this.#clock();
      if (remaining <= 0) throw new StillWaiting(record);
      // The service answers at once if too many calls wait.
      if (held > 0 && this.#clock() - began >= held / 2) continue;
      await this.#sleep(Math.min(delay, remaining));
      delay = Math.min(delay * 1.5, MAX_POLL_SECONDS);
    }
  }

  /** @param {string} method @param {string} path @param {CallOptions} [options] @returns {Promise<unknown>} */
  async call(method, path, options = {}) {
    checkOptions("call", options);
    return this.#send(method, path, options, CALL_SECONDS);
  }

  /**
   * Make a call. Throws ApiError, what `fetch` throws, and AnswerLost for a call whose key the service may have
   * forgotten.
   *
   * A call that the service did not execute (429) is repeated. One that it may have executed (5xx, a lost connection)
   * is repeated if that is safe: a GET, a DELETE, a POST with an Idempotency-Key, or one that takes effect once.
   * @param {string} method @param {string} path @param {CallOptions} options @param {number} seconds
   * @param {boolean} [takesEffectOnce]
   * @returns {Promise<unknown>}
   */
  async #send(method, path, options, seconds, takesEffectOnce = false) {
    const [url, init] = this.#request(method, path, options);
    const { idempotencyKey } = options;
    const isRepeatable = takesEffectOnce || method === "GET" || method === "DELETE" || idempotencyKey !== undefined;
    this.#unanswered.check(path, idempotencyKey);
    for (let attempt = 1; ; attempt++) {
      const began = this.#unanswered.now();
      const isLast = attempt === MAX_ATTEMPTS;
      let delay = FIRST_DELAY_SECONDS * 2 ** (attempt - 1) * (0.5 + this.#chance());
      let response;
      let text = "";
      try {
        const signal = AbortSignal.timeout(seconds * 1000);
        response = await this.#fetch(url, { ...init, signal });
        text = await response.text();
      } catch (error) {
        if (mayHaveArrived(error)) this.#unanswered.add(path, idempotencyKey, began);
        if (isLast || !isRepeatable) throw error;
        response = undefined;
      }
      if (response?.ok) {
        this.#unanswered.add(path, idempotencyKey, began);
        const answer = text ? JSON.parse(text) : undefined;
        this.#unanswered.remove(path, idempotencyKey);
        return answer;
      }
      if (response) {
        delay = Math.max(delay, Number(response.headers.get("retry-after")) || 0);
        const wasExecuted = response.status >= 500;
        if (wasExecuted) this.#unanswered.add(path, idempotencyKey, began);
        const isSafe = response.status === 429 || (wasExecuted && isRepeatable);
        if (isLast || !isSafe || delay > MAX_DELAY_SECONDS) throw errorOf(response.status, text);
      }
      await this.#sleep(delay);
    }
  }

  /**
   * Return the URL of a call and what `fetch` needs. Throws TypeError for a path that could lead to another call.
   * @param {string} method @param {string} path @param {CallOptions} options @returns {[string, RequestInit]}
   */
  #request(method, path, { parameters = {}, body, idempotencyKey }) {
    if (!PATH.test(path)) {
      throw new TypeError(
        `${JSON.stringify(path)} is not a path of the API, such as /api/v1/contact. Pass parameters apart.`,
      );
    }
    const given = Object.entries(parameters).flatMap(([name, value]) =>
      [value].flat().map((one) => [name, String(one)]),
    );
    const query = new URLSearchParams(given).toString();
    /** @type {Record<string, string>} */
    const headers = { Authorization: this.#authorization, Accept: "application/json", "User-Agent": USER_AGENT };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (idempotencyKey) headers["Idempotency-Key"] = idempotencyKey;
    const content = body === undefined ? undefined : JSON.stringify(body);
    // The API does not redirect, and another host must not get the request.
    const init = /** @type {any} */ ({ method, headers, body: content, redirect: "manual" });
    return [`${this.#base}${path}${query ? `?${query}` : ""}`, init];
  }

  async #requireFullScope() {
    if (this.#scope === undefined) {
      /** @type {any} */
      const answer = await this.call("GET", "/api/v1/api_key");
      this.#scope = answer.data.scope;
    }
    if (this.#scope === "read_only") throw new ReadOnlyKey();
  }
}

/** @param {number} status @param {string} text */
function errorOf(status, text) {
  try {
    const { code, message, details } = JSON.parse(text).error;
    return new ApiError(status, code, message, details ?? {});
  } catch {
    return new ApiError(status, "unknown", `The response is not the service's: ${text.slice(0, 200)}`);
  }
}

/**
 * @param {string} secret
 * @param {Headers | Record<string, string | string[] | undefined>} headers
 * @param {Uint8Array | string} body
 * @param {number} [now]
 * @returns {Promise<any>}
 */
export async function verify(secret, headers, body, now = Date.now() / 1000) {
  const key = SECRET.exec(secret)?.[1];
  if (!key) throw new InvalidSignature("The webhook secret is not whsec_ and base64 of at least 24 bytes.");
  const entries = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const fields = new Map(entries.map(([name, value]) => [name.toLowerCase(), String(value ?? "")]));
  const id = fields.get("webhook-id") ?? "";
  const timestamp = fields.get("webhook-timestamp") ?? "";
  if (!TIMESTAMP.test(timestamp) || Math.abs(now - Number(timestamp)) > MAX_AGE_SECONDS) {
    throw new InvalidSignature("The webhook has no time, or one that differs by over five minutes from the clock.");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const expected = await signatureOf(key, `${id}.${timestamp}.`, bytes);
  const signatures = (fields.get("webhook-signature") ?? "").split(" ");
  if (!id || !signatures.some((signature) => isSame(signature, expected))) {
    throw new InvalidSignature("The webhook is not signed with this secret.");
  }
  try {
    const event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (Object.prototype.toString.call(event) !== "[object Object]") throw new TypeError("It is not an object.");
    return eventOf(event);
  } catch {
    throw new InvalidSignature("The webhook is signed, and its body is not an event.");
  }
}

/** Return the signature of a webhook. @param {string} key @param {string} beginning @param {Uint8Array} body */
async function signatureOf(key, beginning, body) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const prefix = new TextEncoder().encode(beginning);
  const content = new Uint8Array(prefix.length + body.length);
  content.set(prefix);
  content.set(body, prefix.length);
  const bytes = Uint8Array.from(atob(key), (character) => character.charCodeAt(0));
  const imported = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(await crypto.subtle.sign("HMAC", imported, content))))}`;
}

/** Return whether two texts are equal, in a time that depends on the second one alone. @param {string} text @param {string} expected */
function isSame(text, expected) {
  let difference = text.length ^ expected.length;
  for (let index = 0; index < expected.length; index++)
    difference |= text.charCodeAt(index) ^ expected.charCodeAt(index);
  return difference === 0;
}

/** @param {any} event */
function eventOf(event) {
  if (!event.result) return event;
  const { name } = event.request_json.request;
  if (typeof name !== "string") throw new TypeError("The event does not name its request.");
  return { ...event, result: withLists(name, event.result) };
}
