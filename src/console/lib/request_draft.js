// The content of a draft: a tree that one of the forms edits, or a text of XML or JSON.

import { openedTree, replaced, rootOf, withoutUnused } from "./form_tree.js";
import { contentOf } from "./queue_again.js";
import { formTree, fromJson, fromXml, hasBlanks, pruned, toJson, toXml } from "./schema.js";
import { fieldsOf, SIMPLE_FORMS } from "./simple_forms.js";
import { firstVersion } from "./versions.js";

/** Returns the ways to edit a request: `[[mode, name]]`. Three types have a form for people beside that of the schema. */
export const modesOf = (type) => [...(SIMPLE_FORMS[type] ? [["simple", "Form"], ["form", "All fields"]] : [["form", "Form"]]), ["xml", "XML"], ["json", "JSON"]];

export const isForm = (mode) => mode === "simple" || mode === "form";

/** Returns a new draft: an empty form, or the content of an earlier request. `supported` is the version of the connection. */
export function beginning(type, source, supported) {
  const [[mode]] = modesOf(type.name);
  const draft = { mode, version: firstVersion(supported), text: "", webhook: "" };
  if (!source) return { ...draft, tree: dated(type, inForm(type, mode, formTree(type))) };
  const { request_xml: xml, webhook_url: webhook, ...rest } = contentOf(source);
  const { tree, version } = fromXml(xml);
  const copy = { ...draft, ...rest, tree, version, webhook: webhook ?? "" };
  // A form leaves out empty elements, which clear fields in a change.
  return tree.name === type.name && !hasBlanks(tree) ? { ...copy, tree: inForm(type, mode, tree) } : { ...copy, mode: "xml", text: xml };
}

/** Returns a tree as a form edits it. The form of the schema does not show all empty fields of the form for people. */
export function inForm(type, mode, tree) {
  const form = SIMPLE_FORMS[type.name];
  if (!form || !isForm(mode)) return tree;
  return mode === "simple" ? openedTree(form, type, tree) : withoutUnused(tree);
}

/** Fills in today's date where the reader is. The form shows it, and it can be changed. */
function dated(type, tree) {
  const form = SIMPLE_FORMS[type.name];
  const dates = form ? fieldsOf(form).filter(({ isToday }) => isToday) : [];
  return dates.reduce((result, { path }) => {
    const node = rootOf(form, result).children.find(({ name }) => name === path);
    return replaced(result, node, { name: path, text: today() });
  }, tree);
}

/** Returns today's date where the reader is: "2026-11-23". */
export function today(now = new Date()) {
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((number) => String(number).padStart(2, "0")).join("-");
}

export const written = (form, { tree, version }) => (form === "xml" ? toXml(pruned(tree), version) : JSON.stringify(toJson(pruned(tree), version), null, 2));

/** Returns the tree and the version of a draft. Throws Error with a sentence if its text cannot be read. */
export function read({ mode, tree, version, text }) {
  if (isForm(mode)) return { tree, version };
  return mode === "xml" ? fromXml(text) : fromJson(text);
}

/** Returns the tree of a draft, or null if its text cannot be read. */
export function treeOf(draft) {
  try {
    return read(draft);
  } catch {
    return null;
  }
}

/** Returns the body that queues a draft. Throws SyntaxError if its JSON is broken. */
export function bodyOf({ mode, tree, version, text, webhook, label, metadata }) {
  const content = mode === "xml" ? { request_xml: text } : { request_json: mode === "json" ? JSON.parse(text) : toJson(pruned(tree), version) };
  return { ...content, ...(webhook.trim() ? { webhook_url: webhook.trim() } : {}), ...(label ? { label } : {}), ...(metadata ? { metadata } : {}) };
}
