// Changes of the books: what `changes` of a client yields, and the place of a program among them.

/** @import { BooksChange } from "./calls.cjs" */

const COMPLETED = "subscription.snapshot_completed";
// The types of events that a later snapshot replaces.
const REPLACED = new Set(["record.changed", "record.deleted", "subscription.resync_required", COMPLETED]);
// Types of later versions are ignored.
const KNOWN = new Set([
  ...REPLACED,
  "record.derived",
  "subscription.snapshot_started",
  "subscription.failed",
  "subscription.recovered",
]);

export const TYPES = "record.*,subscription.*";

/** @type {(event: any) => event is BooksChange} */
export const isChange = (event) => KNOWN.has(event.type);

/**
 * A place among the changes: a cursor of the feed, and generation and sequence of the last snapshot of each object. It
 * is stored as one text, such as `1773489600001 Customer=1773489500000/1773489500420`. A cursor of `events` is one.
 */
export class Place {
  /** @type {string | undefined} */
  after;
  /** @type {Map<string, [number, number]>} */
  #completed = new Map();

  /** @param {string | undefined} text */
  constructor(text) {
    const [after, ...parts] = (text ?? "").trim().split(/\s+/);
    this.after = after || undefined;
    for (const part of parts) {
      const [name, generation, sequence] = /** @type {[string, string, string]} */ (part.split(/[=/]/));
      this.#completed.set(name, [Number(generation), Number(sequence)]);
    }
  }

  toString() {
    const parts = [...this.#completed].map(([name, numbers]) => `${name}=${numbers.join("/")}`);
    return [this.after ?? "", ...parts].join(" ");
  }

  /**
   * Return whether the last snapshot of an object has not replaced an event, and note a snapshot.
   *
   * What it has replaced is repeated or late, and the program has forgotten what was deleted before. After a restore of
   * the service and for a new subscription, a generation may be lower, but then the sequence is higher.
   * @param {any} event
   */
  passes({ type, object, generation, sequence }) {
    if (!REPLACED.has(type) || !object) return true;
    const [ofSnapshot, behind] = this.#completed.get(object) ?? [0, 0];
    if (generation < ofSnapshot && sequence < behind) return false;
    if (type === COMPLETED) this.#completed.set(object, [generation, sequence]);
    return true;
  }
}
