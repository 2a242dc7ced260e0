// The query for the object of a change or a deletion.
import { namesIn, requestNames, requestType } from "./schema.js";
import { partsOf } from "./text.js";
import { contentOf } from "./write_fields.js";

/**
 * Returns the query for the object that a write changes or deletes, as JSON, with its lines. Null: its type cannot be
 * asked for by id, or the id is not known yet.
 *
 * @param {import("./trees.js").Tree} tree
 * @returns {Promise<Record<string, any> | null>}
 */
export async function objectQuery(tree) {
  const name = `${partsOf(tree).subject}QueryRq`;
  if (!(await requestNames()).includes(name)) return null;
  const names = namesIn((await requestType(name)).content);
  for (const { name: field, text } of contentOf(tree).children ?? []) {
    if (!["ListID", "TxnID"].includes(field) || !text || !names.includes(field)) continue;
    return { [name]: { [field]: text, ...(names.includes("IncludeLineItems") ? { IncludeLineItems: "true" } : {}) } };
  }
  return null;
}
