// A client for qbxml-queue, the REST API for QuickBooks Desktop. The CommonJS module has a copy of this file, and shares
// the types of the others, which are CommonJS because modules of both kinds can import those.
import type {
  AddOptions,
  ApproveOptions,
  BatchOptions,
  BooksChange,
  CallOptions,
  Change,
  ChangesOptions,
  ContinueOptions,
  Cursor,
  Entry,
  Environment,
  EventsOptions,
  ExecuteOptions,
  IterateOptions,
  Problem,
  QueueOptions,
  RejectOptions,
} from "./calls.cjs";
import type { Api } from "./schema/api.cjs";
import type { Decisions, Feed, QueuedRequest, WebhookEvent } from "./schema/records.cjs";
import type { Reports } from "./schema/reports.cjs";
import type { IterableName, Requests } from "./schema/requests.cjs";
import type { Resources, ResourcesInBatch } from "./schema/resources.cjs";
import type { Results } from "./schema/responses.cjs";

export type * as requests from "./schema/requests.cjs";
export type * as responses from "./schema/responses.cjs";
export type * as records from "./schema/records.cjs";
export type * as resources from "./schema/resources.cjs";
export type * from "./calls.cjs";
export type { Outcome, ReportColumn, ReportRow, ReportTable } from "./methods.cjs";
export type { Reports } from "./schema/reports.cjs";
export type { Api } from "./schema/api.cjs";
export type { Flag, Macro, Moment, Money, Named, Numeric, Reference, Text } from "./values.cjs";

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

/** Up to 25 requests that are queued in one call, all or none, in their order. */
export interface Batch extends ResourcesInBatch {
  /** Add a request to the end and return its entry. */
  add<N extends RequestName>(request: RequestOf<N>, options?: AddOptions): Entry<Results[N]>;
  /** Queue the requests without waiting. Each entry then has its record. */
  queue(): Promise<void>;
  /** Queue the requests and wait until all have ended. Throws the first failure; each entry has its result. */
  execute(timeout?: number): Promise<void>;
}

export interface Client extends Resources {
  /** A method for each route of the API. */
  readonly api: Api;
  /** A method for each report of QuickBooks. */
  readonly reports: Reports;
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
  /**
   * Yield the changes of the books behind a cursor, and store the cursor behind each group of up to 100. Only a group
   * whose cursor was stored is not yielded again, so a `store` that commits a transaction commits the rows of the group
   * with it. Ends behind the last change. If the cursor is older than the feed, it yields
   * `subscription.resync_required` and goes on with the oldest event.
   */
  changes(cursor: Cursor, options?: ChangesOptions): AsyncGenerator<BooksChange, void>;
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

/** The API key may only read, so the client did not make the call. */
export class ReadOnlyKey extends ApiError {}

/**
 * The call was made before, its answer was lost, and the service may have forgotten its idempotency key since. The client
 * did not make the call: it might be a second write.
 */
export class AnswerLost extends QbxmlQueueError {
  /** The idempotency key. */
  readonly key: string;
}

/** The webhook is not an event that was signed with the secret within the last five minutes. */
export class InvalidSignature extends QbxmlQueueError {}

/** The request has not ended in time. It stays queued: wait for it again with `wait`, and do not queue it again. */
export class StillWaiting extends QbxmlQueueError {
  readonly record: QueuedRequest;
}

/** The call of a resource has not ended in time. Its request stays queued: the same call resumes it. */
export class StillQueued extends StillWaiting {
  /** The id of the request. */
  readonly id: string;
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

/** The object was written, but not all of its custom fields. Define them, and make the same call again. */
export class CustomFieldsNotWritten extends QbxmlQueueError {
  /** The ListID or TxnID of the object. */
  readonly id: string;
  /** Why each custom field was not written, by its name. */
  readonly failures: Record<string, RequestFailed>;
}

/** The books do not have the object. */
export class NotFound extends QbxmlQueueError {}

/** The books have several objects with a number. `ids` are theirs: use `get` with one of them. */
export class Ambiguous extends QbxmlQueueError {
  readonly ids: string[];
}

/** Somebody else has changed a field that the call changes. Nothing was written. `changes` has both values. */
export class Conflict extends QbxmlQueueError {
  readonly changes: Change[];
}

export type FeedEvent = Feed["data"][number];
export type Event = WebhookEvent;

/**
 * Return the event of a webhook that the service signed. Throws InvalidSignature for everything else.
 *
 * `secret` is the webhook secret of the app (`whsec_…`), `body` the raw bytes or text of the call. The names of the
 * headers may have any case. `now` is in Unix seconds. `type` tells which members the event has. Ignore a
 * type that you do not know, such as `webhook.test`.
 */
export function verify(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: Uint8Array | string,
  now?: number,
): Promise<Event>;
