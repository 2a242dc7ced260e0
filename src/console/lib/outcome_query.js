// The query that finds out whether QuickBooks executed a write: built from the write, and read together with it.
import { resultsOf } from "./result_rows.js";
import { namesIn, requestNames, requestType } from "./schema.js";
import { partsOf, requestTitle } from "./text.js";
import { fromXml, toXml } from "./xml.js";

const MAX_RETURNED = 100;
/** QuickBooks compares times in its own time zone, which is unknown here. */
const MARGIN_MILLISECONDS = 86_400_000;
const PARTNERS = ["CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef"];
/** Nothing matches the filter; no object has the name or ID. */
const NOT_FOUND = new Set([1, 500]);

const childOf = (tree, name) => tree?.children?.find((child) => child.name === name);
const textOf = (tree, ...path) => path.reduce(childOf, tree)?.text;
const same = (one, other) => one?.trim().toLowerCase() === other?.trim().toLowerCase();
/** @param {string} noun */
const a = (noun) => `${/^(?!uni)[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
/** @param {string} noun */
const many = (noun) =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : /(s|x|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;

/**
 * Returns how a record's outcome can be found out, or null if no query can tell: `{xml, question, judge}`. `judge`
 * returns `{verdict, text}` for the objects that QuickBooks returned. A verdict is "done", "not_done", or "look": a
 * person must compare.
 *
 * @param {{request_xml: string, inserted_at: string}} record
 */
export async function outcomeQuery(record) {
  const { tree, version } = fromXml(record.request_xml);
  const { verb, subject } = partsOf(tree);
  const name = `${subject}QueryRq`;
  if (!(await requestNames()).includes(name)) return null;
  const fields = namesIn((await requestType(name)).content);
  const plan = PLANS[verb]?.({
    tree,
    object: tree.children[0],
    fields,
    record,
    noun: requestTitle(`${subject}Rq`).toLowerCase(),
  });
  if (!plan) return null;
  const children = plan.children.sort((one, other) => fields.indexOf(one.name) - fields.indexOf(other.name));
  return { ...plan, xml: toXml({ name, children }, version) };
}

const leaf = (name, text) => ({ name, text });
const idIn = (fields) => (fields.includes("ListID") ? "ListID" : "TxnID");

const PLANS = {
  Add: (facts) => byName(facts) ?? byNumber(facts) ?? byTime(facts),

  Mod({ object, fields, noun }) {
    const id = textOf(object, idIn(fields));
    const edited = textOf(object, "EditSequence");
    if (!id || !edited) return null;
    return {
      question: `Is the ${noun} still as it was before this change?`,
      children: [leaf(idIn(fields), id)],
      judge(rows) {
        if (!rows.length) return { verdict: "look", text: `The ${noun} is not in the books any more.` };
        if (rows[0].EditSequence === edited)
          return {
            verdict: "not_done",
            text: `The ${noun} is as it was before: QuickBooks did not execute the change.`,
          };
        return {
          verdict: "done",
          text: `The ${noun} has been changed since, perhaps by this request. QuickBooks would refuse a copy, because its EditSequence is outdated. Compare the ${noun} with the request.`,
        };
      },
    };
  },

  Del({ tree, fields, noun }) {
    const id = textOf(tree, idIn(fields));
    return (
      id && {
        question: `Is the ${noun} still there?`,
        children: [leaf(idIn(fields), id)],
        judge: (rows) =>
          rows.length
            ? { verdict: "not_done", text: `The ${noun} is still there: QuickBooks did not delete it.` }
            : { verdict: "done", text: `The ${noun} is not there any more.` },
      }
    );
  },

  Merge({ tree, noun }) {
    const id = textOf(tree, "MergeFrom", "ListID");
    return (
      id && {
        question: `Is the ${noun} that was merged into the other one still there?`,
        children: [leaf("ListID", id)],
        judge: (rows) =>
          rows.length
            ? { verdict: "not_done", text: `The ${noun} is still there: QuickBooks did not merge it.` }
            : { verdict: "done", text: `The ${noun} is not there any more.` },
      }
    );
  },

  Void({ tree, fields, noun }) {
    const id = textOf(tree, "TxnID");
    return (
      id &&
      fields.includes("TxnID") && {
        question: `Is the ${noun} void?`,
        children: [leaf("TxnID", id)],
        judge: (rows) => ({
          verdict: "look",
          text: rows.length
            ? `The amounts of a void ${noun} are 0.00, and its memo begins with VOID.`
            : `The ${noun} is not in the books any more.`,
        }),
      }
    );
  },
};

/** Names are unique in a list. */
function byName({ object, fields, noun }) {
  const name = textOf(object, "Name");
  const parent = childOf(object, "ParentRef");
  // A parent that is named by its ListID hides the full name.
  if (!name || !fields.includes("FullName") || (parent && !textOf(parent, "FullName"))) return null;
  const full = parent ? `${textOf(parent, "FullName")}:${name}` : name;
  return {
    question: `Is there ${a(noun)} with the name “${full}”?`,
    children: [leaf("FullName", full)],
    judge: (rows) =>
      rows.length
        ? { verdict: "done", text: `There is ${a(noun)} with this name. QuickBooks would refuse a copy.` }
        : { verdict: "not_done", text: `There is no ${noun} with this name: QuickBooks did not add it.` },
  };
}

/** Numbers need not be unique, so the customer or vendor is compared too. */
function byNumber({ object, fields, noun }) {
  const number = textOf(object, "RefNumber");
  if (!number || !fields.includes("RefNumber")) return null;
  const partner = PARTNERS.find((name) => childOf(object, name)) ?? "";
  const sent = childOf(object, partner);
  const isSame = (row) =>
    textOf(sent, "ListID")
      ? row[partner]?.ListID === textOf(sent, "ListID")
      : same(row[partner]?.FullName, textOf(sent, "FullName"));
  return {
    question: `Is there ${a(noun)} with the number “${number}”?`,
    children: [leaf("RefNumber", number)],
    judge(rows) {
      if (!rows.length)
        return { verdict: "not_done", text: `There is no ${noun} with this number: QuickBooks did not add it.` };
      if (partner && !rows.some(isSame))
        return {
          verdict: "look",
          text: `There is ${a(noun)} with this number, but for somebody else. Look whether it is the one of this request.`,
        };
      return { verdict: "done", text: `There is ${a(noun)} with this number. A copy would be a second one.` };
    },
  };
}

/** An entry that has neither a name nor a number is among those that changed since the request was queued. */
function byTime({ object, fields, noun, record }) {
  const since = leaf(
    "FromModifiedDate",
    new Date(new Date(record.inserted_at).getTime() - MARGIN_MILLISECONDS).toISOString().replace(/\.\d+Z$/, "+00:00"),
  );
  const range = fields.includes("ModifiedDateRangeFilter")
    ? { name: "ModifiedDateRangeFilter", children: [since] }
    : fields.includes("FromModifiedDate")
      ? since
      : null;
  if (!range) return null;
  const partner = PARTNERS.map((name) => childOf(object, name)).find(Boolean);
  const names =
    partner?.children?.filter(({ name, text }) => ["ListID", "FullName"].includes(name) && text).slice(0, 1) ?? [];
  const filter = names.length && fields.includes("EntityFilter") ? [{ name: "EntityFilter", children: names }] : [];
  const limit = fields.includes("MaxReturned") ? [leaf("MaxReturned", String(MAX_RETURNED))] : [];
  return {
    question: `Is it among the ${many(noun)} that were added or changed since the day before?`,
    children: [...limit, range, ...filter],
    judge(rows) {
      if (!rows.length)
        return {
          verdict: "not_done",
          text: `No ${noun} was added or changed since the day before: QuickBooks did not add it.`,
        };
      const more =
        rows.length >= MAX_RETURNED ? ` These are the first ${MAX_RETURNED}; look for more in QuickBooks.` : "";
      return { verdict: "look", text: `Look whether the ${noun} of this request is among these.${more}` };
    },
  };
}

/** Returns the objects that a check found, `[]` if QuickBooks found none, or null if the check itself failed. */
export function rowsOf(check) {
  const rows = resultsOf(check.response_json).flatMap(([, objects]) => objects);
  if (check.state === "response_received") return rows;
  return NOT_FOUND.has(check.error?.details?.status_code) ? [] : null;
}
