// The methods of resources.
import type { AddOptions, Entry, StepOptions } from "./calls.cjs";
import type { CreateOptions, ListOptions, ObjectOptions, ReadOptions, WriteOptions } from "./calls.cjs";
import type { Reference } from "./values.cjs";

export type { Moment } from "./values.cjs";

/** What became of an addition. */
export interface Outcome {
  "@outcome": "created" | "found" | "updated" | "unchanged";
}

/** The custom fields of an object by their names, those that have a value. */
export interface CustomFields {
  customFields?: Record<string, string>;
}

export interface Create<Fields, Object> {
  /** Add one, and return it with its outcome. Throws ApiError, RequestFailed, StillQueued. */
  create(fields: Fields, options?: CreateOptions): Promise<Object & Outcome>;
}

export interface Ensure<Fields, Object> {
  /**
   * Add one if its name, or its number and its customer, vendor or account, are new. Otherwise one of a list is changed
   * where it differs, if QuickBooks can change its type, and any other one is returned.
   * Throws ApiError, RequestFailed, StillQueued.
   */
  ensure(fields: Fields, options?: WriteOptions): Promise<Object & Outcome>;
}

export interface Get<Object> {
  /** Return the one with a ListID or TxnID, with its lines. Throws NotFound, StillQueued. */
  get(id: string, options?: ReadOptions): Promise<Object>;
}

export interface GetWhole<Object> {
  /** Return the one with a ListID or TxnID, with its lines. Throws NotFound, StillQueued. */
  get(id: string, options?: ObjectOptions): Promise<Object>;
}

export interface Find<Object> {
  /** Return the one with a full name or a number, or undefined. Throws Ambiguous, StillQueued. */
  find(nameOrNumber: string, options?: ReadOptions): Promise<Object | undefined>;
}

export interface FindWhole<Object> {
  /** Return the one with a full name or a number, or undefined. Throws Ambiguous, StillQueued. */
  find(nameOrNumber: string, options?: ObjectOptions): Promise<Object | undefined>;
}

export interface List<Filters, Object> {
  /** Yield those that a query finds, page by page. The timeout is that of one page. Throws StillQueued. */
  list(filters?: Filters, options?: ListOptions): AsyncGenerator<Object, void>;
}

export interface ListWhole<Filters, Object> {
  /** Yield those that a query finds, page by page. The timeout is that of one page. Throws StillQueued. */
  list(filters?: Filters, options?: ListOptions & ObjectOptions): AsyncGenerator<Object, void>;
}

export interface Update<Changes, Object> {
  /**
   * Change the fields that are named, and return the object. Lines that are not named stay; a new one has the TxnLineID
   * "-1". Throws Conflict if somebody else changes the same fields meanwhile, StaleEditSequence if nobody can tell, and
   * RangeError for a line that the object does not have.
   */
  update(id: string, changes: Changes, options?: WriteOptions): Promise<Object>;
}

export interface Delete<Result> {
  /** Delete the one with an id. */
  delete(id: string, options?: WriteOptions): Promise<Result>;
}

export interface Void<Result> {
  /** Void the one with an id. */
  void(id: string, options?: WriteOptions): Promise<Result>;
}

export interface CreateStep<Fields, Result> {
  /** Add one. The step can be a reference in later ones: `{ CustomerRef: step }`. */
  create(fields: Fields, options?: AddOptions): Entry<Result>;
}

export interface EnsureStep<Fields, Result> {
  /** Add one if it is new, as `ensure` of the client does. The step can be a reference in later ones. */
  ensure(fields: Fields, options?: StepOptions): Entry<Result>;
}

export interface DeleteStep<Result> {
  /** Delete the one with an id. */
  delete(id: string | Reference, options?: StepOptions): Entry<Result>;
}

export interface VoidStep<Result> {
  /** Void the one with an id. */
  void(id: string | Reference, options?: StepOptions): Entry<Result>;
}
