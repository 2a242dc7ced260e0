// The objects that have a form for changes, as a response shows them.
import { resultsOf } from "./result_rows.js";
import { url } from "./router.js";

/** @type {Record<string, {type: string, id: string, noun: string}>} */
const CHANGEABLE = {
  CustomerRet: { type: "CustomerModRq", id: "ListID", noun: "customer" },
  InvoiceRet: { type: "InvoiceModRq", id: "TxnID", noun: "invoice" },
};

/** @param {string} type */
export const hasChangeForm = (type) => Object.values(CHANGEABLE).some((one) => one.type === type);

/**
 * Returns the form for a change of the only object in a response, as `{address, noun}`, or null.
 *
 * @param {{connection_id: string, response_json?: any}} record
 */
export function changeOf({ connection_id: connection, response_json: response }) {
  const found = resultsOf(response);
  if (found.length !== 1) return null;
  const [[name, rows]] = found;
  const form = CHANGEABLE[String(name)];
  const object = form && rows.length === 1 && rows[0][form.id];
  return object ? { address: url("/compose", { connection, type: form.type, object }), noun: form.noun } : null;
}
