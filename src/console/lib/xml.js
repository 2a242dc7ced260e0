// Request trees as QBXML, and QBXML as trees.
import { declarations } from "./versions.js";

/**
 * @import { Tree } from "./trees.js"
 * @typedef {Tree & {attributes: Record<string, string>, children: Tree[]}} Root A request has no text.
 */

/** @param {string} text */
export const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/**
 * @param {Tree} tree
 * @param {number} indent
 * @returns {string}
 */
function element(tree, indent) {
  const attributes = Object.entries(tree.attributes ?? {})
    .filter(([, value]) => value !== "")
    .map(([name, value]) => ` ${name === "request_id" ? "requestID" : name}="${escaped(value)}"`)
    .join("");
  const space = "  ".repeat(indent);
  if (!tree.children) return `${space}<${tree.name}${attributes}>${escaped(tree.text ?? "")}</${tree.name}>`;
  if (!tree.children.length) return `${space}<${tree.name}${attributes}></${tree.name}>`;
  return [
    `${space}<${tree.name}${attributes}>`,
    ...tree.children.map((child) => element(child, indent + 1)),
    `${space}</${tree.name}>`,
  ].join("\n");
}

/**
 * Returns the request as QBXML, with declarations if there is a version.
 *
 * @param {Tree} tree
 * @param {string} [version]
 */
export function toXml(tree, version) {
  const set = `  <QBXMLMsgsRq onError="stopOnError">\n${element(tree, 2)}\n  </QBXMLMsgsRq>`;
  return `${version ? declarations(version) : ""}<QBXML>\n${set}\n</QBXML>`;
}

// The only place where the Content-Security-Policy allows a document from a string. The XML is parsed, never displayed.
const readable = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("read-xml", { createHTML: (xml) => xml });

/** @param {string} xml */
function parsed(xml) {
  const document_ = new DOMParser().parseFromString(readable?.createHTML(xml.trim()) ?? xml.trim(), "application/xml");
  const failed = document_.querySelector("parsererror");
  if (!failed) return document_;
  const place = /line (\d+) at column (\d+)/.exec(failed.textContent ?? "");
  const problem = new Error(
    place ? `The XML is broken at line ${place[1]}, column ${place[2]}.` : "The XML is broken.",
  );
  if (place) Object.assign(problem, { line: Number(place[1]), column: Number(place[2]) });
  throw problem;
}

/**
 * @param {Element} node
 * @param {Element} [root] It may be empty, without a text.
 * @returns {Tree}
 */
function treeOf(node, root) {
  const attributes = Object.fromEntries(
    [...node.attributes].map(({ name, value }) => [name === "requestID" ? "request_id" : name, value]),
  );
  const base = { name: node.tagName, ...(node.attributes.length ? { attributes } : {}) };
  const text = node.textContent ?? "";
  const empty = !node.children.length && !text.trim() && (node === root || text.includes("\n"));
  return node.children.length || empty
    ? { ...base, children: [...node.children].map((child) => treeOf(child)) }
    : { ...base, text };
}

/**
 * Returns the objects in a response, such as `CustomerRet`, with their elements in order: the JSON of a response does
 * not have that of different kinds of lines.
 *
 * @param {string} xml
 * @returns {Tree[]}
 */
export const objectsIn = (xml) =>
  [...parsed(xml).querySelectorAll("QBXMLMsgsRs > * > *")]
    .filter(({ tagName }) => tagName.endsWith("Ret"))
    .map((node) => treeOf(node));

/**
 * Reads QBXML. Returns `{tree, version}`, without a version if the text has no declaration of one; throws Error with a
 * sentence.
 *
 * @param {string} xml
 * @returns {{tree: Root, version?: string}}
 */
export function fromXml(xml) {
  const document_ = parsed(xml);
  const request = [...document_.querySelectorAll("*")].find(
    ({ tagName }) => tagName.endsWith("Rq") && tagName !== "QBXMLMsgsRq",
  );
  if (!request) throw new Error("There is no request element, such as CustomerQueryRq.");
  const { name, attributes = {}, text, children = [] } = treeOf(request, request);
  if (text) throw new Error(`${name} must contain elements, not text.`);
  const declaration = [...document_.childNodes].find(
    (node) => node instanceof ProcessingInstruction && node.target === "qbxml",
  );
  const version = /version\s*=\s*["']([^"']*)["']/.exec(declaration?.nodeValue ?? "")?.[1];
  return { tree: { name, attributes, children }, version };
}
