import type { Entry } from "./calls.cjs";

/** A value in the response of another request, such as `CustomerRet/ListID`. */
export type Reference = { readonly $from: string; readonly path: string } | EntryReference;

/** A value in the response to a request of a batch: what `Entry.ref` returns. */
export interface EntryReference {
  readonly entry: object;
  readonly path: string;
}

/** A value that an element of the same request defines with `@defMacro`. */
export interface Macro {
  "@useMacro": string;
}

export type Text = string | Reference;
/** An amount or a price as a text, such as "97.50". A number is not one, because it would be rounded. */
export type Money = string | Reference;
/** A quantity, percentage, rate or whole number. */
export type Numeric = string | number | Reference;
export type Flag = boolean | Reference;
/** A time as a text in the form of QBXML, such as "2026-01-31T13:30:00-08:00", or a Date. */
export type Moment = string | Date | Reference;
/** An object of a list: its full name, its record, or the step of a batch that returns it. */
export type Named = string | { readonly ListID: string; readonly EditSequence: string } | Entry<unknown>;
