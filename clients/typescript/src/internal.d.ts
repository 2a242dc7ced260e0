// What the modules of the client share and programs do not see.
import type { BatchOptions, CallOptions, QueueOptions } from "./calls.cjs";
import type { QueuedRequest } from "./schema/records.cjs";
import type { EntryReference } from "./values.cjs";

/** An object of JSON. */
export type Tree = Record<string, any>;

/** A request that a reference can name: an entry of a batch. */
export interface Entry {
  /** Return what identifies the request in a batch, or outside of batches. */
  nameIn(batch: object | undefined): string;
  /** Return a value of the object that the request returns, such as its ListID. */
  value(member: string): EntryReference;
}

/** What the client knows of a resource. */
export interface Kind {
  /** The object in QBXML, such as `Invoice`. */
  name: string;
  /** The elements of the result of its query. */
  returns: string[];
  methods: string[];
  /** The element that is its id: `ListID` or `TxnID`. */
  key: string;
  /** The element by which `find` looks for it: `FullName`, `RefNumber` or `Name`. */
  sought?: string;
  /** Where its query has the time of the last change. */
  modified: string[];
  /** Whether its query leaves lines out unless it asks for them. */
  hasLines: boolean;
  /** The element that `lines` stands for in an addition. */
  addedLine?: string;
  /** The lines in its Mod. QuickBooks deletes those that a Mod with lines does not list. */
  changedLines: string[];
  /** What `ensure` does with an object that exists. */
  ifExists: "return" | "update";
  /** The type of the object in the requests that write custom fields, if it can have them. */
  customFields?: string;
}

/** A route of the API. */
export interface Route {
  method: string;
  path: string;
  ids: string[];
  /** The parameters of the URL by their names in the client. */
  parameters: Record<string, string>;
  /** The parameters whose items are joined with commas. Other lists are repeated. */
  joined: string[];
  body?: "required" | "optional";
  hasKey: boolean;
  returnsData: boolean;
}

/** A write that was begun: a request, and the custom fields that are written behind it in the same batch. */
export interface Attempt {
  /** What the idempotency key follows from. */
  cause: string;
  /** Undefined for an attempt that writes the custom fields that a former one has not written. */
  request?: Tree;
  /** The object as it was before. */
  read?: Tree | undefined;
  /** The id of the object. It is unknown before an addition. */
  objectId?: any;
  customFields: Record<string, string | null>;
  number: number;
  outcome?: string | null | undefined;
  /** The id of the request, as soon as it is known to be queued. */
  id?: string;
  batch?: any;
}

/** What an update changes. */
export interface Alteration {
  id: string;
  fields: Tree;
  removed: string[];
  customFields: Record<string, string | null>;
}

/** What a client does for its resources and routes. */
export interface Service {
  connectionId: string;
  queue(request: object, options: QueueOptions): Promise<QueuedRequest>;
  wait(id: string, timeout: number): Promise<QueuedRequest>;
  /** Yield the results of the pages of a query. */
  pages(id: string, deadline: () => number): AsyncGenerator<any, void>;
  send(method: string, path: string, options: CallOptions): Promise<any>;
  /** Return an empty batch. */
  batch(key: string, options: BatchOptions): any;
  now(): number;
  newKey(): string;
}

/** What a batch needs of its client. */
export interface BatchClient {
  queueBatch(body: object, idempotencyKey: string, options: QueueOptions): Promise<QueuedRequest[]>;
  wait(id: string, timeout: number): Promise<QueuedRequest>;
  now(): number;
}
