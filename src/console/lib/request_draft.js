// The content of a draft: a tree that one of the forms edits, or a text of XML or JSON.

import { changeOfObject, changeProblems, changeRequest, CHANGES, editedOf } from "./changes.js";
import { openedTree, replaced, rootOf, withoutUnused } from "./form_tree.js";
import { contentOf, isOutdated } from "./queue_again.js";
import { fitsInJson, fromJson, shortForm, toJson } from "./request_json.js";
import { session } from "./session.js";
import { choiceIn, queryForm, rangeLacks, withChoice } from "./query_forms.js";
import { fieldsOf, SIMPLE_FORMS } from "./simple_forms.js";
import { formTree, hasBlanks, missingIn, pruned } from "./trees.js";
import { firstVersion } from "./versions.js";
import { fromXml, toXml } from "./xml.js";

/**
 * @import { RequestType } from "./schema.js"
 * @import { Tree } from "./trees.js"
 * @typedef {"simple" | "change" | "form" | "xml" | "json"} Mode
 * @typedef {Record<string, string> | [string, string][]} Metadata That of a copy, or the rows of the reader.
 * @typedef {object} Draft
 * @property {Mode} mode
 * @property {Tree} tree
 * @property {string} version
 * @property {string} text The XML or JSON, in these modes.
 * @property {Tree} [base] The object that a change changes, as it was read.
 * @property {Tree} [edited] The request of the form that changes it.
 * @property {Tree} [former] The object for which `tree` was made, until the object is read again.
 * @property {string | null} webhook A URL, "" for that of the connection, or null for none.
 * @property {string} [label]
 * @property {Metadata} [metadata]
 * @property {string} [send_by] In UTC.
 * @property {"low"} [priority]
 * @property {"return" | "update"} [if_exists]
 */

/**
 * Returns the form for people of a type, or null. That of a query depends on what a tree has chosen.
 *
 * @param {RequestType} type
 * @param {Tree} tree
 */
export const formOf = (type, tree) =>
  SIMPLE_FORMS[type.name] ?? CHANGES[type.name]?.form ?? queryForm(type, choiceIn(type, tree));

/**
 * Returns the ways to edit a request: `[[mode, name]]`. Some types have a form for people beside that of the schema.
 *
 * @param {RequestType} type
 * @returns {[Mode, string][]}
 */
export function modesOf(type) {
  /** @type {[Mode, string][]} */
  const texts = [
    ["xml", "XML"],
    ["json", "JSON"],
  ];
  /** @type {Mode} */
  const forPeople = CHANGES[type.name] ? "change" : "simple";
  return formOf(type, { name: type.name, children: [] })
    ? [[forPeople, "Form"], ["form", "All fields"], ...texts]
    : [["form", "Form"], ...texts];
}

/** @param {Mode} mode */
export const isForm = (mode) => mode === "form" || isForPeople(mode);
/** @param {Mode} mode */
export const isForPeople = (mode) => mode === "simple" || mode === "change";

/**
 * Returns a new draft: an empty form, the content of an earlier request, or the change of the object with the id
 * `object`. The form of a query begins with the choice `which`. `supported` is the version of the connection. The
 * webhook is a URL, "" for that of the connection, or null for none.
 *
 * @param {RequestType} type
 * @param {any} source
 * @param {string | null | undefined} supported
 * @param {string} [object]
 * @param {string} [which]
 */
export function beginning(type, source, supported, object, which) {
  const [[mode]] = modesOf(type);
  const draft = { mode, version: firstVersion(supported), text: "", webhook: "" };
  if (object && mode === "change") return { ...draft, tree: changeOfObject(type, object) };
  const empty = which ? withChoice(type, formTree(type), which) : formTree(type);
  if (!source) return { ...draft, tree: dated(type, inForm(type, mode, empty)) };
  const { request_xml: xml, webhook_url: webhook = "", ...rest } = contentOf(source);
  const { tree, version } = fromXml(xml);
  const copy = { ...draft, ...rest, tree, version, webhook };
  // A form leaves out empty elements, which clear fields in a change, and attributes of the message set.
  const fits = tree.name === type.name && !hasBlanks(tree) && fitsInJson(xml);
  // A change of an object that has changed needs what the object is now.
  if (mode === "change" && (!isOutdated(source) || !fitsInJson(xml))) copy.mode = "form";
  return fits || copy.mode === "change"
    ? { ...copy, tree: inForm(type, copy.mode, tree) }
    : { ...copy, mode: "xml", text: xml };
}

/**
 * Returns a tree as a form edits it. The form of the schema does not show all empty fields of the form for people.
 *
 * @param {RequestType} type
 * @param {Mode} mode
 * @param {Tree} tree
 */
export function inForm(type, mode, tree) {
  const form = formOf(type, tree);
  if (!form || mode === "change" || !isForm(mode)) return tree;
  return mode === "simple" ? openedTree(form, type, tree) : withoutUnused(tree);
}

/**
 * Fills in today's date where the reader is. The form shows it, and it can be changed.
 *
 * @param {RequestType} type
 * @param {Tree} tree
 */
function dated(type, tree) {
  const form = SIMPLE_FORMS[type.name];
  const dates = form ? fieldsOf(form).filter(({ isToday }) => isToday) : [];
  return dates.reduce((result, { path }) => {
    const node = rootOf(form, result)?.children?.find(({ name }) => name === path);
    return replaced(result, node, { name: path, text: today() });
  }, tree);
}

/** Returns today's date where the reader is: "2026-11-23". */
export function today(now = new Date()) {
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((number) => String(number).padStart(2, "0"))
    .join("-");
}

/**
 * Returns the tree and the version of a draft. A text without a version has the `assumed` one, that of the connection.
 * Throws Error with a sentence if the text cannot be read.
 *
 * @param {Draft} draft
 * @param {string} assumed
 * @returns {{tree: Tree, version: string}}
 */
export function read({ mode, tree, version, text, base, edited }, assumed) {
  if (isForm(mode))
    return { tree: mode === "change" && base && edited ? changeRequest(tree.name, base, edited) : tree, version };
  const found = mode === "xml" ? fromXml(text) : fromJson(text);
  return { ...found, version: found.version ?? assumed };
}

/**
 * Whether the empty elements of a draft are fields that nobody has filled in. In a change, they clear fields.
 *
 * @param {Draft} draft
 */
const leavesOutBlanks = ({ mode, base }) => isForm(mode) && !(mode === "change" && base);

/**
 * Returns the tree and the version that a draft queues, or null if its text cannot be read. Only a form leaves out
 * empty elements.
 *
 * @param {Draft} draft
 * @param {string} assumed
 */
export function requestOf(draft, assumed) {
  try {
    const { tree, version } = read(draft, assumed);
    return { tree: leavesOutBlanks(draft) ? pruned(tree) : tree, version };
  } catch {
    return null;
  }
}

/**
 * Returns the problems whose element is still in a tree unchanged.
 *
 * @template {{element?: Tree}} Found
 * @param {Tree} tree
 * @param {Found[]} problems
 */
export function stillIn(tree, problems) {
  const elements = new Set();
  /** @param {Tree} element */
  const visit = (element) => {
    elements.add(element);
    element.children?.forEach(visit);
  };
  visit(tree);
  return problems.filter(({ element }) => elements.has(element));
}

/**
 * @param {string} version
 * @param {string} assumed
 */
const unlessAssumed = (version, assumed) => (version === assumed ? undefined : version);

/**
 * Returns a tree as a text of XML or JSON. The text names the version unless it is the `assumed` one.
 *
 * @param {string} form
 * @param {{tree: Tree, version: string}} request
 * @param {string} assumed
 */
export function written(form, { tree, version }, assumed) {
  const named = unlessAssumed(version, assumed);
  return form === "xml" ? toXml(tree, named) : JSON.stringify(shortForm(tree, named), null, 2);
}

/** @type {(draft: Draft, version: string) => unknown} */
const formJson = (draft, version) => toJson(requestOf(draft, version)?.tree ?? draft.tree, version);

/**
 * Returns what a form lacks before it can be queued, with the elements at which it is shown.
 *
 * @param {RequestType} type
 * @param {Draft} draft
 * @returns {{element?: Tree, message: string, isMissing?: true}[]}
 */
export function lacksOf(type, { mode, tree, base, edited }) {
  if (!isForm(mode)) return [];
  if (mode === "simple") return [...missingIn(type.content, tree), ...rangeLacks(type, tree)];
  if (mode !== "change") return missingIn(type.content, tree);
  return base && edited
    ? changeProblems(type.name, base, edited)
    : [{ message: `Read the ${CHANGES[type.name].noun} from QuickBooks first.` }];
}

/**
 * Returns the changes of a draft that is edited in another way. Throws Error with a sentence if that would lose
 * something.
 *
 * @param {RequestType} type
 * @param {Draft} draft
 * @param {Mode} next
 * @param {string} assumed
 */
export function switched(type, draft, next, assumed) {
  const { tree, version } = read(draft, assumed);
  if (isForm(next) && tree.name !== type.name)
    throw new Error(`The form is for ${type.name}; the text holds ${tree.name}. Pick that type above.`);
  if (next !== "xml" && isOnlyXml(draft))
    throw new Error(`${ONLY_XML} Write only onError="stopOnError", or stay in XML.`);
  if (next === "form" && draft.mode === "change" && hasBlanks(tree))
    throw new Error("All fields would leave out the empty elements, which clear fields. See the change as XML.");
  const content = isForm(next)
    ? { text: "", ...(next === "change" ? editedAgain(type, draft, tree) : { tree: inForm(type, next, tree) }) }
    : { tree, text: written(next, requestOf(draft, assumed) ?? { tree, version }, assumed) };
  return { ...content, version, mode: next, idempotencyKey: null };
}

export const ONLY_XML = "Only XML can hold these attributes of QBXMLMsgsRq.";

/**
 * Returns a change as its form edits it. Without the object, the form reads it first.
 *
 * @param {RequestType} type
 * @param {Draft} draft
 * @param {Tree} tree
 */
function editedAgain(type, { base, edited }, tree) {
  if (!base) return { tree };
  /** @param {Tree} one */
  const isSame = (one) => JSON.stringify(toJson(changeRequest(type.name, base, one))) === JSON.stringify(toJson(tree));
  if (edited && isSame(edited)) return { tree };
  const next = editedOf(type, base, tree, base);
  if (isSame(next)) return { tree, edited: next };
  throw new Error("The form cannot show this change. Queue it here, or start over.");
}

/**
 * Returns the body that queues a draft. Throws SyntaxError if its JSON is broken.
 *
 * @param {Draft} draft
 */
export function bodyOf(draft) {
  const { mode, version, text } = draft;
  const content =
    mode === "xml"
      ? { request_xml: text }
      : { request_json: mode === "json" ? JSON.parse(text) : formJson(draft, version) };
  return { ...content, ...settingsOf(draft) };
}

/**
 * Whether only XML can hold a draft.
 *
 * @param {Draft} draft
 */
export const isOnlyXml = ({ mode, text }) => mode === "xml" && !fitsInJson(text);

/**
 * Returns a body that queues the same request, in the short form. The first two arguments are a draft and its
 * `requestOf`.
 *
 * @param {Draft} draft
 * @param {{tree: Tree, version: string}} request
 * @param {string} assumed
 */
export function sampleBodyOf(draft, { tree, version }, assumed) {
  return {
    ...(isOnlyXml(draft)
      ? { request_xml: draft.text }
      : { request_json: shortForm(tree, unlessAssumed(version, assumed)) }),
    ...settingsOf(draft),
  };
}

/**
 * Returns the metadata of a draft as rows of a name and a value.
 *
 * @param {Metadata | undefined} metadata
 * @returns {[string, string][]}
 */
export const metadataRows = (metadata) => (Array.isArray(metadata) ? metadata : Object.entries(metadata ?? {}));

/**
 * Returns what is wrong with the names of the metadata, or undefined. The service says what else is wrong.
 *
 * @param {Metadata | undefined} metadata
 */
export function metadataProblem(metadata) {
  const rows = metadataRows(metadata);
  const names = rows.map(([name]) => name);
  if (rows.some(([name, value]) => value && !name)) return "Metadata: each value needs a name.";
  const repeated = names.find((name, place) => name && names.indexOf(name) < place);
  return repeated && `Metadata: the name “${repeated}” occurs twice. Give each entry a name of its own.`;
}

/** @param {Draft} draft */
function settingsOf({ webhook, label, metadata, send_by, priority, if_exists }) {
  const url = webhook?.trim() ?? null;
  const pairs = metadataRows(metadata).filter(([name]) => name);
  return {
    ...(url === "" || !session.may("give_webhook_url") ? {} : { webhook_url: url }),
    ...(label ? { label } : {}),
    ...(pairs.length ? { metadata: Object.fromEntries(pairs) } : {}),
    ...(send_by ? { send_by } : {}),
    ...(priority ? { priority } : {}),
    ...(if_exists ? { if_exists } : {}),
  };
}
