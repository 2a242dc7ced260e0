// Custom fields: the fields that users define for customers, vendors, employees and items, and see in forms.
// QBXML calls them data extensions of the owner 0. They are read with the object and written one by one behind it.

/** @import { Change } from "./calls.cjs" */
/** @import { Kind, Tree } from "./internal.js" */

/** The OwnerID of the fields that users see. Private data of a program has a GUID. */
const OWNER = "0";
/** What a message has in place of an id that does not exist yet. */
const NEW_LINE_ID = "…";

/** @typedef {Record<string, string | null>} Values */

/** Return the filters of a query that also returns custom fields. @param {Tree} filters @returns {Tree} */
export function asked(filters) {
  const { IncludeRetElement: elements } = filters;
  return {
    ...filters,
    OwnerID: [...[filters.OwnerID ?? []].flat(), OWNER],
    ...(elements === undefined ? {} : { IncludeRetElement: [...[elements].flat(), "DataExtRet"] }),
  };
}

/** Return an object with its custom fields by their names. @param {Tree} record */
export function withCustomFields(record) {
  const rows = /** @type {Tree[]} */ (record.DataExtRet ?? []).filter(({ OwnerID }) => OwnerID === OWNER);
  const customFields = Object.fromEntries(rows.map((row) => [row.DataExtName, row.DataExtValue ?? ""]));
  return { ...record, customFields };
}

/**
 * Return the custom fields that a call writes. Throws TypeError for what cannot be written.
 * @param {Kind} kind @param {string} method @param {Values} [given] @returns {Values}
 */
export function checked(kind, method, given) {
  if (given === undefined) return {};
  if (kind.customFields === undefined) throw new TypeError(`A ${kind.name} cannot have custom fields.`);
  for (const [name, value] of Object.entries(given)) {
    const field = `The custom field ${JSON.stringify(name)}`;
    if (value === null && method !== "update")
      throw new TypeError(`${field} cannot be null in ${method}. Leave it out.`);
    if (value === "") throw new TypeError(`${field} cannot be an empty text. null in update clears it.`);
    if (value !== null && typeof value !== "string")
      throw new TypeError(`${field} is not a text. Write it as QuickBooks shows it.`);
  }
  return { ...given };
}

/** Return the custom fields that an object does not have yet. @param {Values} wanted @param {Tree} current @returns {Values} */
export function differing(wanted, current) {
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => valueOf(current, name) !== value));
}

/**
 * Return the custom fields that somebody else has changed to another value than the wanted one.
 * @param {Values} wanted @param {Tree} before @param {Tree} now @returns {Change[]}
 */
export function conflicts(wanted, before, now) {
  return Object.entries(wanted)
    .map(([name, ours]) => {
      const [read, theirs] = [valueOf(before, name), valueOf(now, name)];
      return { field: `customFields/${name}`, read, theirs, ours };
    })
    .filter(({ read, theirs, ours }) => theirs !== read && theirs !== ours);
}

/**
 * Return the request for each custom field of an object, or of a line: one that sets the value, or one that deletes it.
 *
 * QuickBooks does not clear a field with DataExtMod, and DataExtAdd fails for a field that was defined again.
 * @param {Kind} kind @param {unknown} id @param {Values} values @param {string} [lineId] @returns {Tree[]}
 */
export function written(kind, id, values, lineId) {
  const type = kind.customFields;
  const place =
    kind.key === "ListID" ? { ListDataExtType: type, ListObjRef: { ListID: id } } : { TxnDataExtType: type, TxnID: id };
  return Object.entries(values).map(([name, value]) => {
    const field = { OwnerID: OWNER, DataExtName: name, ...place, ...(lineId && { TxnLineID: lineId }) };
    return value === null
      ? { DataExtDelRq: { DataExtDel: field } }
      : { DataExtModRq: { DataExtMod: { ...field, DataExtValue: value } } };
  });
}

/**
 * Throw TypeError for an update with custom fields of lines. It has the requests that write them.
 * @param {Kind} kind @param {string} id @param {Tree} fields
 */
export function checkLines(kind, id, fields) {
  const requests = writtenInLines(kind, id, fields).map((request) => JSON.stringify(request));
  if (requests.length === 0) return;
  const isNew = requests.some((request) => request.includes(NEW_LINE_ID));
  const hint = isNew ? ` ${JSON.stringify(NEW_LINE_ID)} is the TxnLineID of the new line, which update returns.` : "";
  const message = "update cannot write custom fields of lines. Leave them out, and execute";
  throw new TypeError(`${message} ${requests.join(", ")}.${hint}`);
}

/** Return the request for each custom field of the lines in an update, and of those in groups. @param {Kind} kind @param {string} id @param {Tree} fields @returns {Tree[]} */
function writtenInLines(kind, id, fields) {
  const families = Object.keys(fields).filter((name) => /Line(Group)?Mod$/.test(name));
  return families
    .flatMap((name) => /** @type {Tree[]} */ (fields[name]))
    .flatMap((line) => {
      const { TxnLineID = "-1", customFields, ...others } = line;
      const lineId = TxnLineID === "-1" ? NEW_LINE_ID : TxnLineID;
      const values = checked(kind, "update", customFields);
      return [...written(kind, id, values, lineId), ...writtenInLines(kind, id, others)];
    });
}

/** Return the value of a custom field. QuickBooks does not distinguish case in names. @param {Tree} record @param {string} name */
function valueOf(record, name) {
  const found = Object.entries(record.customFields).find(([one]) => one.toLowerCase() === name.toLowerCase());
  return found?.[1] || null;
}
