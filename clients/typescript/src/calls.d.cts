// What the methods of the client take and return: options, entries of batches, cursors.
import type { RecordsByObject } from "./schema/changes.cjs";
import type { QueuedRequest } from "./schema/records.cjs";
import type { Reference } from "./values.cjs";

/** What belongs to a request beside its elements, and how the service reads it. */
export interface SendOptions {
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
}

export interface CommonOptions extends SendOptions {
  /**
   * Names the cause of the request, such as `invoice-1042`. A repeated call with the same key within 24 hours returns
   * the first request and queues nothing. The default is random, so that only this call's retries are safe.
   */
  idempotencyKey?: string;
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

/** How a read of a resource is queued, and how long to wait for it. */
export interface ReadOptions extends SendOptions {
  /** `low` for a backfill that nobody waits for. It is sent behind all others, and not in pages. */
  priority?: "normal" | "low";
  /** Seconds to wait until it has ended; 300 by default. Then StillQueued is thrown, and the same call resumes it. */
  timeout?: number;
}

/** How a read of an object that can have custom fields is queued. */
export interface ObjectOptions extends ReadOptions {
  /** True also reads the custom fields, as `customFields` of each object. */
  customFields?: boolean;
}

/** How the query of a resource is queued, and how large its pages are. */
export interface ListOptions extends ReadOptions {
  /** Objects in a page; 100 by default. */
  pageSize?: number;
}

/** How a write of a resource is queued, and how long to wait for it. */
export interface WriteOptions extends ReadOptions {
  /**
   * Names the cause of the write, such as `invoice-1042`, so that it is queued once, also by a program that was restarted.
   * The default is random.
   */
  idempotencyKey?: string;
  /** A write waits until it is approved with another API key. */
  approval?: "required";
}

/** How an addition is queued. */
export interface CreateOptions extends WriteOptions {
  /** As for `queue`. */
  ifExists?: "fail" | "return" | "update";
}

export interface BatchOptions {
  /** The priority of all requests of the batch. */
  priority?: "normal" | "low";
  /** All writes of the batch wait until they are approved with another API key. */
  approval?: "required";
}

/** How a request of a batch is queued that does not look first. */
export interface StepOptions extends Omit<SendOptions, "validate" | "transliterate"> {
  /** A write waits until it is approved with another API key. */
  approval?: "required";
  /** Requests before this one that must succeed first. A value of `Entry.ref` implies it. */
  dependsOn?: Entry<unknown>[];
}

/** How a request of a batch is queued. */
export interface AddOptions extends StepOptions {
  /** As for `queue`. */
  ifExists?: "fail" | "return" | "update";
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

export interface ChangesOptions {
  /** Leaves out the objects that only other subscriptions name. */
  subscriptionId?: string;
}

/**
 * A record was added or has changed, or a snapshot has read it. Ignore it if you have this `object` and `id` with the
 * same `sequence` or a higher one, also as a deletion.
 */
export interface RecordChanged<Name extends keyof RecordsByObject> {
  type: "record.changed";
  object: Name;
  id: string;
  sequence: number;
  generation: number;
  record: RecordsByObject[Name];
  record_omitted?: undefined;
}

/**
 * A record has changed and is too large for an event: an invoice with thousands of lines. Ignore it like a `RecordChanged`.
 * Otherwise read the record by its `id`, with `get` of its resource.
 */
export interface RecordOmitted {
  type: "record.changed";
  object: keyof RecordsByObject;
  id: string;
  sequence: number;
  generation: number;
  record: null;
  record_omitted: true;
}

/** A record was deleted. Ignore it like a `RecordChanged`, and remember its `sequence` until the next snapshot. */
export interface RecordDeleted {
  type: "record.deleted";
  object: keyof RecordsByObject;
  id: string;
  sequence: number;
  generation: number;
}

/**
 * Fields of a list entry that QuickBooks computes, such as `Balance`, if a subscription asks for them. They are not in the
 * record, and have a `sequence` of their own: ignore a lower one than you have for them. A snapshot does not replace them.
 */
export interface RecordDerived {
  type: "record.derived";
  object: keyof RecordsByObject;
  id: string;
  sequence: number;
  as_of: string;
  derived: Record<string, string>;
}

/** All records of an object are read. Their changes have this generation. */
export interface SnapshotStarted {
  type: "subscription.snapshot_started";
  object: keyof RecordsByObject;
  generation: number;
}

/**
 * All records of an object were read, and `records` is their number. Remove those with a lower generation and a lower
 * sequence, and forget deletions with such numbers.
 */
export interface SnapshotCompleted {
  type: "subscription.snapshot_completed";
  object: keyof RecordsByObject;
  sequence: number;
  generation: number;
  records: number;
}

/** Changes of an object may be missing, or of all objects if it is null. Resync the subscription. */
export interface ResyncRequired {
  type: "subscription.resync_required";
  object: keyof RecordsByObject | null;
  /** What happened, for people. */
  reason: string;
}

/** Three runs have failed in a row. The copy is as old as the last run. */
export interface ReadingFailed {
  type: "subscription.failed";
  /** What happened, for people. */
  reason: string;
}

/** A run has succeeded after `subscription.failed`. */
export interface ReadingRecovered {
  type: "subscription.recovered";
}

/** What `changes` yields. `type` and `object` tell the type of `record`. */
export type BooksChange =
  | { [Name in keyof RecordsByObject]: RecordChanged<Name> }[keyof RecordsByObject]
  | RecordOmitted
  | RecordDeleted
  | RecordDerived
  | SnapshotStarted
  | SnapshotCompleted
  | ResyncRequired
  | ReadingFailed
  | ReadingRecovered;

export interface CallOptions {
  /** The parameters of the URL. A list is repeated. */
  parameters?: Record<string, string | readonly string[]>;
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

export interface Problem {
  field: string;
  message: string;
  path?: string;
  suggestion?: string;
}

/** A field that two programs have changed. A value is undefined if the field is empty, or the line was removed. */
export interface Change {
  field: string;
  /** The value that the call has read. */
  read: unknown;
  /** The value in the books now. */
  theirs: unknown;
  /** The value that the call would write. */
  ours: unknown;
}
