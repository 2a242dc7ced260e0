// The objects that have a form for changes, as a response shows them.
import { nameIn, resultsOf } from "./result_rows.js";
import { isPlainClick, url } from "./router.js";
import { session } from "./session.js";

/** @type {Record<string, {type: string, id: string, noun: string}>} */
const CHANGEABLE = {
  CustomerRet: { type: "CustomerModRq", id: "ListID", noun: "customer" },
  InvoiceRet: { type: "InvoiceModRq", id: "TxnID", noun: "invoice" },
};

/** @param {string} type */
export const hasChangeForm = (type) => Object.values(CHANGEABLE).some((one) => one.type === type);

/**
 * What people call the objects whose forms were opened in this tab, by connection and ID: two company files can have
 * the same ID.
 *
 * @type {Map<string, string>}
 */
const names = new Map();
/** The object that a person has just chosen to change, by connection and ID. An address alone chooses nothing. */
let chosen = "";
session.onSignOut(() => {
  names.clear();
  chosen = "";
});

/**
 * @param {string} connection
 * @param {string} object
 * @param {string} name
 */
export const noteName = (connection, object, name) => names.set(`${connection} ${object}`, name);

/**
 * Returns what QuickBooks called an object when it was read last, or undefined if that is not known.
 *
 * @param {string | undefined} connection
 * @param {string} object
 */
export const knownName = (connection, object) => names.get(`${connection} ${object}`);

/**
 * Returns whether a person has just clicked to change an object. It returns true only once, so that the form queues
 * one query.
 *
 * @param {string} connection
 * @param {string} object
 */
export function takeChosen(connection, object) {
  const isChosen = chosen === `${connection} ${object}`;
  chosen = "";
  return isChosen;
}

/**
 * Returns the form for a change of the only object in a response, as `{address, noun, open}`, or null. `open` takes the
 * click on a link to the form: it notes the object and its name.
 *
 * @param {{connection_id: string, response_json?: any}} record
 */
export function changeOf({ connection_id: connection, response_json: response }) {
  const found = resultsOf(response);
  if (found.length !== 1) return null;
  const [[name, rows]] = found;
  const form = CHANGEABLE[String(name)];
  const object = form && rows.length === 1 && rows[0][form.id];
  if (!object) return null;
  return {
    address: url("/compose", { connection, type: form.type, object }),
    noun: form.noun,
    open: (/** @type {MouseEvent} */ event) => {
      noteName(connection, object, nameIn(found));
      if (isPlainClick(event)) chosen = `${connection} ${object}`;
    },
  };
}
