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

/** A column of a report. Titles can repeat, so `name` is the title with a number, or the type of a column without a title. */
export interface ReportColumn {
  readonly name: string;
  readonly title: string;
  /** What it has, such as `Amount`, `Label` or `DueDate`. */
  readonly type: string;
  /** The type of its values in QBXML, such as `AMTTYPE`. */
  readonly dataType: string;
}

/** A row of a report. A row of the type `text` is a heading, which only its first cell has. */
export interface ReportRow {
  readonly type: "data" | "text" | "subtotal" | "total";
  /** The text in each column, by the name of the column. null is an empty cell. An amount is a text, such as 97.50. */
  readonly cells: Readonly<Record<string, string | null>>;
  /** The texts in the order of the columns. */
  readonly values: readonly (string | null)[];
  /** The text in the first column, as QuickBooks prints it. */
  readonly label: string;
  /** The type of the object that the row is about, such as `account`, `customer` or `item`. */
  readonly objectType: string | undefined;
  /** The full name of that object. */
  readonly object: string | undefined;
}

/** A report. */
export interface ReportTable {
  readonly title: string;
  /** The period, such as `September 2026`. */
  readonly subtitle: string;
  /** `Accrual`, `Cash` or `None`, if the report has it. */
  readonly basis: string | undefined;
  readonly columns: readonly ReportColumn[];
  readonly rows: readonly ReportRow[];
  /** The row with the total of the report, if it has one. */
  readonly total: ReportRow | undefined;
  /** Return the cells of the rows of some types, `data` by default, by the names of the columns. */
  asObjects(...types: ReportRow["type"][]): Readonly<Record<string, string | null>>[];
}

/** The method of a report. Filters that QuickBooks requires are required. */
export type Report<Filters> = {} extends Filters
  ? (filters?: Filters, options?: ReadOptions) => Promise<ReportTable>
  : (filters: Filters, options?: ReadOptions) => Promise<ReportTable>;
