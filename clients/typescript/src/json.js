// The values of requests as JSON, and the references among them.

/** @import { Entry } from "./internal.js" */

/** A value of the response to an entry of a batch. */
export class EntryReference {
  /** @param {Entry} entry @param {string} path */
  constructor(entry, path) {
    this.entry = entry;
    this.path = path;
  }
}

/**
 * Return a value of a request as JSON. `batch` is the batch of the request, if it is in one.
 * @param {any} value @param {object} [batch] @returns {any}
 */
export function toJson(value, batch) {
  if (Array.isArray(value)) return value.map((one) => toJson(one, batch));
  if (value instanceof Date) return momentOf(value);
  if (value instanceof EntryReference) return { $from: value.entry.nameIn(batch), path: value.path };
  if (typeof value !== "object" || value === null) return value;
  if (typeof value.toJSON === "function") return value.toJSON();
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([name, member]) => [name, toJson(name.endsWith("Ref") ? referred(name, member) : member, batch)]),
  );
}

/** Return a time as QBXML writes it: without Z, and without a fraction. @param {Date} time */
export const momentOf = (time) => `${time.toISOString().slice(0, 19)}+00:00`;

/**
 * Return what refers to an object: a name or a record is replaced by an element.
 * @param {string} name @param {any} value @returns {any}
 */
function referred(name, value) {
  if (Array.isArray(value)) return value.map((one) => referred(name, one));
  if (typeof value === "string") return { FullName: value };
  if (typeof value !== "object" || value === null) return value;
  // `ifExists` needs the name of a parent.
  const member = name === "ParentRef" ? "FullName" : "ListID";
  if (typeof value.nameIn === "function") return { [member]: value.value(member) };
  return Object.keys(value).length > 1 && member in value ? { [member]: value[member] } : value;
}

/** Return whether two values of JSON are the same. @param {any} one @param {any} other @returns {boolean} */
export function isSame(one, other) {
  return inOrder(one) === inOrder(other);
}

/** Return a value as a text that does not depend on the order of members. @param {any} value */
export function inOrder(value) {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
