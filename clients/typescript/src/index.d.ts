// A client for qbxml-queue, the REST API for QuickBooks Desktop.
import type {
  CompletedEvent,
  ConnectionWebhookEvent,
  Decisions,
  DiscardedEvent,
  FailedEvent,
  Feed,
  QueuedRequest,
  ResolvedEvent,
} from "./schema/records.js";
import type { IterableName, Requests } from "./schema/requests.js";
import type { Results } from "./schema/responses.js";
import type { Reference } from "./values.js";

export type * as requests from "./schema/requests.js";
export type * as responses from "./schema/responses.js";
export type * as records from "./schema/records.js";
export type { Flag, Macro, Money, Numeric, Reference, Text } from "./values.js";

/** The name of a request, such as `CustomerQueryRq`. */
export type RequestName = keyof Requests;

/** Whether N is one name: not a union, and not `never`, which is the name in `{}`. */
type IsOne<N, Whole = N> = [N] extends [never]
  ? false
  : N extends unknown
    ? [Whole] extends [N]
      ? true
      : false
    : never;

/** One request: `{CustomerQueryRq: {…}}`. */
export type RequestOf<N extends RequestName> = Pick<Requests, N> &
  (false extends IsOne<N> ? "one request with a name from RequestName" : unknown);

export interface CommonOptions {
  /**
   * Names the cause of the request, such as `invoice-1042`. A repeated call with the same key within 24 hours returns
   * the first request and queues nothing. The default is random, so that only this call's retries are safe.
   */
  idempotencyKey?: string;
  /** The version of QBXML, such as `14.0`. */
  version?: string;
  /** The receiver. `null` sends no webhook, even if the connection has a default. */
  webhookUrl?: string | null;
  /** At most 50 characters of your own, such as `order 1042`, which lists can be filtered by. */
  label?: string;
  /** At most 20 texts of your own, which come back in the record and in events. */
  metadata?: Record<string, string>;
  /**
   * A time with a zone, such as `2026-03-14T18:00:00Z`. The request fails as `not_sent_in_time` if it is not sent before
   * it. At least a minute ahead.
   */
  sendBy?: string;
  /** The same in seconds from the call on. */
  sendWithin?: number;
  /** False skips the check against the schema. */
  validate?: boolean;
  /** True replaces characters that QuickBooks cannot store. */
  transliterate?: boolean;
  /**
   * `return` asks QuickBooks for the object of an addition first. If it exists, the request ends with it, and nothing is
   * added. `update` does the same for lists, but changes what differs. `fail` is the default.
   */
  ifExists?: "fail" | "return" | "update";
}

export interface QueueOptions extends CommonOptions {
  /**
   * `auto` lets the service send a query in pages if its response is too large. Each page after the first is a request of
   * its own. `execute` returns the objects of all pages, so it sets `auto` for every query that allows it: one that can
   * iterate, names no objects and has no MaxReturned.
   */
  iterate?: "auto" | "never";
  /**
   * The id of a request that has ended, in place of which this one is queued. It is replaced once: if it was queued again
   * before, that request is returned.
   */
  replaces?: string;
  /** True also replaces a request that QuickBooks has executed, or may have executed. Look in QuickBooks first. */
  force?: boolean;
  /** `low` for a backfill that nobody waits for. It is sent behind all others, and not in pages. */
  priority?: "normal" | "low";
  /** A write waits until it is approved with another API key. */
  approval?: "required";
}

/** Which request of a batch is queued again, and what belongs to its correction. */
export interface ContinueOptions extends Omit<CommonOptions, "idempotencyKey"> {
  /** As for `queue`. */
  iterate?: "auto" | "never";
  /** The request that failed. It is needed if several failed. */
  requestId?: string;
  /** True also queues a request again that QuickBooks may have executed. Look in QuickBooks first. */
  force?: boolean;
  /** A write waits until it is approved with another API key. */
  approval?: "required";
}

export interface ExecuteOptions extends QueueOptions {
  /** Seconds to wait until the request has ended; 300 by default. Then StillWaiting is thrown. */
  timeout?: number;
}

export interface IterateOptions extends CommonOptions {
  /** Seconds to wait for one page; 300 by default. Then StillWaiting is thrown. */
  timeout?: number;
  /** Objects in a page; 100 by default. */
  pageSize?: number;
}

export interface BatchOptions {
  /** The priority of all requests of the batch. */
  priority?: "normal" | "low";
  /** All writes of the batch wait until they are approved with another API key. */
  approval?: "required";
}

export interface AddOptions {
  version?: string;
  webhookUrl?: string | null;
  label?: string;
  metadata?: Record<string, string>;
  /** A time with a zone. The request fails as `not_sent_in_time` if it is not sent before it. */
  sendBy?: string;
  /** The same in seconds from the call on. */
  sendWithin?: number;
  /** As for `queue`. */
  ifExists?: "fail" | "return" | "update";
  /** A write waits until it is approved with another API key. */
  approval?: "required";
  /** Requests before this one that must succeed first. A value of `Entry.ref` implies it. */
  dependsOn?: Entry<unknown>[];
}

/** A request of a batch. */
export interface Entry<R> {
  /** The record, as it was when the batch last read it. Throws before the batch is queued. */
  readonly record: QueuedRequest;
  /** The result. Throws RequestFailed, and Error before the batch is executed. */
  readonly result: R;
  /**
   * Return a value of the response for a later request of this batch, or of one after it, such as `CustomerRet/ListID`.
   * An element that can repeat needs a number, counted from 1: `InvoiceRet[1]/TxnID`.
   */
  ref(path: string): Reference;
}

/** Up to 25 requests that are queued in one call, all or none, in their order. */
export interface Batch {
  /** Add a request to the end and return its entry. */
  add<N extends RequestName>(request: RequestOf<N>, options?: AddOptions): Entry<Results[N]>;
  /** Queue the requests without waiting. Each entry then has its record. */
  queue(): Promise<void>;
  /** Queue the requests and wait until all have ended. Throws the first failure; each entry has its result. */
  execute(timeout?: number): Promise<void>;
}

/** Where a program keeps the place up to which it has processed events, such as a row of its database. */
export interface Cursor {
  load(): string | undefined | Promise<string | undefined>;
  store(cursor: string): void | Promise<void>;
}

export interface ApproveOptions {
  /** True also approves a write that waits for the responses to other requests, and may get values of them. */
  acceptValues?: boolean;
}

export interface RejectOptions {
  /** True also ends the requests that wait for the write, in errors. */
  dependants?: boolean;
}

export interface EventsOptions {
  /** True includes the other connections of the app. */
  everyConnection?: boolean;
}

export interface CallOptions {
  parameters?: Record<string, string>;
  body?: unknown;
  idempotencyKey?: string;
}

/** What the client uses of its environment. Each has a default. */
export interface Environment {
  fetch?: typeof globalThis.fetch;
  sleep?: (seconds: number) => Promise<void>;
  /** Seconds of a clock that only moves forward. */
  clock?: () => number;
  newKey?: () => string;
  /** A number from 0 to 1. */
  chance?: () => number;
}

/** One connection of the service: the books of one company. `baseUrl` is without `/api/v1`. */
export class Client {
  constructor(baseUrl: string, apiKey: string, connectionId: string, environment?: Environment);
  /** Return a client for BASE_URL, API_KEY and CONNECTION_ID. */
  static fromEnvironment(): Client;
  /**
   * Queue a request, wait until QuickBooks has executed it, and return its result.
   * Throws ApiError, RequestFailed, StillWaiting.
   */
  execute<N extends RequestName>(request: RequestOf<N>, options?: ExecuteOptions): Promise<Results[N]>;
  /**
   * Yield the result of each page of a query that can iterate. The timeout is that of one page. QuickBooks keeps its
   * position for one session only: if it ends, the next page throws RequestFailed with the code
   * `iteration_interrupted`. Start again.
   */
  iterate<N extends IterableName>(query: RequestOf<N>, options?: IterateOptions): AsyncGenerator<Results[N], void>;
  /** Return an empty batch. The key names its cause, such as `order-1042`; the default is random. */
  batch(idempotencyKey?: string, options?: BatchOptions): Batch;
  /**
   * Yield the events behind a cursor, oldest first, and store the cursor of each when the next one is wanted. An event
   * is a request or an iterated query that has ended. It is yielded again if the program ends before it wants the next
   * one. Ends behind the last event.
   */
  events(cursor: Cursor, options?: EventsOptions): AsyncGenerator<FeedEvent, void>;
  /** Queue a request and return its record without waiting. */
  queue<N extends RequestName>(request: RequestOf<N>, options?: QueueOptions): Promise<QueuedRequest>;
  /**
   * Queue the failed request of a batch again, and what was not sent because of it. Return their records. `request` is its
   * correction. References of the others get the values of its result. Each request is queued again once: a repeated call
   * returns the same records.
   */
  continueBatch<N extends RequestName>(
    batchId: string,
    request?: RequestOf<N>,
    options?: ContinueOptions,
  ): Promise<QueuedRequest[]>;
  /**
   * Ask QuickBooks whether it executed a write whose `executed` is `unknown`. Return the record of the write. The answer
   * is in its `executed` when its `settling.answered` is true.
   */
  settle(requestId: string): Promise<QueuedRequest>;
  /**
   * Approve a write that waits for approval, and return its record. It enters the queue. `revision` is `approval.revision`
   * of the record that was looked at. The key that queued the write cannot approve it.
   */
  approve(requestId: string, revision: number, options?: ApproveOptions): Promise<QueuedRequest>;
  /** Reject a write that waits for approval, and return its record. It is never sent. */
  reject(requestId: string, reason: string, options?: RejectOptions): Promise<QueuedRequest>;
  /** Approve up to 100 writes: their revisions by their ids. What is refused is left, with the error. */
  approveAll(revisions: Record<string, number>, options?: ApproveOptions): Promise<Decisions>;
  /** Reject up to 100 writes. What is refused is left, with the error. */
  rejectAll(ids: string[], reason: string, options?: RejectOptions): Promise<Decisions>;
  /**
   * Approve all writes of a batch that wait for approval: their revisions by their ids. Throws ApiError, and approves none,
   * if one is refused.
   */
  approveBatch(batchId: string, revisions: Record<string, number>, options?: ApproveOptions): Promise<Decisions>;
  /** Reject all writes of a batch that wait for approval. Throws ApiError, and rejects none, if one is refused. */
  rejectBatch(batchId: string, reason: string, options?: RejectOptions): Promise<Decisions>;
  /** Return the record of a request. */
  record(requestId: string): Promise<QueuedRequest>;
  /** Return the record of a request that has ended. Throws StillWaiting. */
  wait(requestId: string, timeout?: number): Promise<QueuedRequest>;
  /**
   * Make any call of the API, with the client's retries, and return the JSON of the response, or undefined. `path` begins
   * with `/api/v1` and has no parameters.
   */
  call(method: string, path: string, options?: CallOptions): Promise<unknown>;
}

/** The base of all errors of this client. */
export class QbxmlQueueError extends Error {}

/** The service refused the call, so nothing was queued. */
export class ApiError extends QbxmlQueueError {
  readonly status: number;
  readonly code: string;
  readonly details: Record<string, unknown>;
  readonly problems: Problem[];
}

export interface Problem {
  field: string;
  message: string;
  path?: string;
  suggestion?: string;
}

/** The API key may only read, so the client did not make the call. */
export class ReadOnlyKey extends ApiError {}

/** The webhook is not an event that was signed with the secret within the last five minutes. */
export class InvalidSignature extends QbxmlQueueError {}

/** The request has not ended in time. It stays queued: wait for it again with `wait`, and do not queue it again. */
export class StillWaiting extends QbxmlQueueError {
  readonly record: QueuedRequest;
}

/** The request ended without a result. */
export class RequestFailed extends QbxmlQueueError {
  readonly record: QueuedRequest;
  readonly code: string;
  readonly details: Record<string, unknown>;
  /** The stable name of the cause, such as `name_in_use`. */
  readonly reason: string | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** The status code of QuickBooks, such as 3100. */
  readonly statusCode: number | undefined;
  /** Whether the hint says to queue the same request again, under a new idempotency key. */
  readonly isRetryable: boolean;
}

/** QuickBooks refused the request and changed nothing. */
export class QuickBooksError extends RequestFailed {}
/** The object has changed since it was read. Read it again and repeat the change. */
export class StaleEditSequence extends QuickBooksError {}
/** QuickBooks may have executed the request. Look in QuickBooks before you queue it again. */
export class OutcomeUnknown extends RequestFailed {}
/** A request that this one needs did not succeed, so it was not sent. */
export class DependencyFailed extends RequestFailed {}
/** The request was taken out of the queue and was not sent. */
export class Discarded extends RequestFailed {}
/** QuickBooks executed the request, but its response is too large or unreadable. `response_xml` may have it. */
export class ResultUnavailable extends RequestFailed {}

export type FeedEvent = Feed["data"][number];
export type Event = CompletedEvent | FailedEvent | DiscardedEvent | ResolvedEvent | ConnectionWebhookEvent;

/**
 * Return the event of a webhook that the service signed. Throws InvalidSignature for everything else.
 *
 * `secret` is the webhook secret of the app (`whsec_…`), `body` the raw bytes or text of the call. The names of the
 * headers may have any case. `now` is in Unix seconds. `type` tells the events of requests from those of connections.
 */
export function verify(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: Uint8Array | string,
  now?: number,
): Promise<Event>;
