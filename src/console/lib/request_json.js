// A request as JSON: in the short form, `{version, CustomerQueryRq: {"@requestID": "1", MaxReturned: "2"}}`, and as a
// tree of nodes, `{version, request: {name, attributes, text | children}}`, which records have. Both may lack the
// version (docs/reference/service-contract.md, Requests as JSON).

const MESSAGE_SET = "QBXMLMsgsRq";

/**
 * Whether JSON can hold the request of a QBXML document. It has no place for other attributes of the message set.
 *
 * @param {string} xml
 */
export const fitsInJson = (xml) => /<QBXMLMsgsRq\s+onError\s*=\s*["']stopOnError["']\s*>/.test(xml);

// --- Writing -----------------------------------------------------------------------------------------------------

/**
 * Returns a tree in the short form, or as nodes if the short form would lose the order of its elements.
 *
 * @param {import("./trees.js").Tree} tree
 * @param {string} [version]
 * @returns {Record<string, any>}
 */
export function shortForm(tree, version) {
  return isOrdered(tree)
    ? { ...versionMember(version), [tree.name]: content({ children: [], ...tree }) }
    : toJson(tree, version);
}

/**
 * Returns a tree as nodes.
 *
 * @param {import("./trees.js").Tree} tree
 * @param {string} [version]
 */
export function toJson(tree, version) {
  /** @type {(tree: import("./trees.js").Tree) => Record<string, unknown>} */
  const node = ({ name, attributes, text, children }) => ({
    name,
    ...(filled(attributes).length ? { attributes: Object.fromEntries(filled(attributes)) } : {}),
    ...(children ? { children: children.map(node) } : { text: text ?? "" }),
  });
  return { ...versionMember(version), request: node(tree) };
}

/** @param {string | undefined} version */
const versionMember = (version) => (version ? { version } : {});

/** @param {Record<string, string>} attributes */
const filled = (attributes = {}) => Object.entries(attributes).filter(([, value]) => value !== "");

/**
 * Returns the text of an element, or an object of its attributes and children. Children of one name become an array.
 *
 * @param {Omit<import("./trees.js").Tree, "name">} tree
 * @returns {any}
 */
function content({ attributes, text, children }) {
  /** @type {Map<string, any>} */
  const members = new Map(
    filled(attributes).map(([name, value]) => [`@${name === "request_id" ? "requestID" : name}`, value]),
  );
  if (!children && !members.size) return text ?? "";
  if (text) members.set("#text", text);
  for (const child of children ?? []) {
    const value = content(child);
    const former = members.get(child.name);
    if (former === undefined) members.set(child.name, value);
    else if (Array.isArray(former)) former.push(value);
    else members.set(child.name, [former, value]);
  }
  return Object.fromEntries(members);
}

/**
 * Whether elements of the same name stand together everywhere, as they do in an array.
 *
 * @param {import("./trees.js").Tree} tree
 * @returns {boolean}
 */
function isOrdered({ children = [] }) {
  const runs = children.filter((child, n) => child.name !== children[n - 1]?.name).map(({ name }) => name);
  return new Set(runs).size === runs.length && children.every(isOrdered);
}

// --- Reading -----------------------------------------------------------------------------------------------------

/**
 * Reads both forms. Returns `{tree, version}`, without a version if the text has none; throws Error with a sentence.
 *
 * @param {string} text
 */
export function fromJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The JSON is broken: ${error.message}.`, { cause: error });
  }
  const names = Object.keys(value ?? {}).filter((name) => name !== "version");
  const [name] = names;
  if (
    names.length !== 1 ||
    Array.isArray(value) ||
    name === MESSAGE_SET ||
    !(name === "request" || name.endsWith("Rq"))
  ) {
    throw new Error('The JSON needs one request, such as {"CustomerQueryRq": {"MaxReturned": 5}}.');
  }
  const tree = name === "request" ? ofNode(value.request) : ofMember(name, value[name] ?? {});
  if (tree.text) throw new Error(`${tree.name} must contain elements, not text.`);
  const { attributes = {}, children = [] } = tree;
  return { tree: { name: tree.name, attributes, children }, version: versionOf(value.version) };
}

/** @param {unknown} value */
function versionOf(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number") return value.toFixed(1);
  if (typeof value === "string") return value;
  throw new Error('The version must be a text, such as "13.0".');
}

/**
 * Reads a node: `{name, attributes, text | children}`.
 *
 * @param {any} node
 * @returns {import("./trees.js").Tree}
 */
function ofNode(node) {
  const { name, attributes, text, children } = node ?? {};
  if (typeof name !== "string") throw new Error('A node needs a "name".');
  // Null beside children is ignored.
  const own = Array.isArray(children) ? { children: children.map(ofNode) } : { text: textOf(text, name) };
  if (own.children?.length && text) throw new Error(`${name} has both text and children.`);
  return element(name, Object.entries(attributes ?? {}), own);
}

/**
 * Reads a member of the short form: a text, or an object of attributes and children.
 *
 * @param {string} name
 * @param {any} value
 * @returns {import("./trees.js").Tree}
 */
export function ofMember(name, value) {
  if (value === null || typeof value !== "object") return { name, text: textOf(value, name) };
  if (Array.isArray(value)) throw new Error(`${name} is an array where one element is needed.`);
  /** @type {[string, unknown][]} */
  const attributes = [];
  const children = [];
  for (const [key, member] of Object.entries(value)) {
    if (key.startsWith("@")) attributes.push([key.slice(1), member]);
    else if (key !== "#text")
      for (const one of Array.isArray(member) ? member : [member]) children.push(ofMember(key, one));
  }
  const text = children.length ? (value["#text"] ?? "") : textOf(value["#text"], name);
  if (children.length && text !== "") throw new Error(`${name} has both text and children.`);
  const hasText = !children.length && (text || attributes.length > 0);
  return element(name, attributes, hasText ? { text } : { children });
}

/**
 * An attribute that is null is like one that is absent.
 *
 * @param {string} name
 * @param {[string, unknown][]} attributes
 * @param {{text?: string, children?: import("./trees.js").Tree[]}} own
 */
function element(name, attributes, own) {
  const given = attributes
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key === "requestID" ? "request_id" : key, textOf(value, key)]);
  return { name, ...(given.length ? { attributes: Object.fromEntries(given) } : {}), ...own };
}

/**
 * Null is not a value: an empty text clears a field.
 *
 * @param {unknown} value
 * @param {string} name
 */
function textOf(value, name) {
  if (value === null) throw new Error(`${name} must not be null. Leave it out, or write "" to clear it.`);
  if (typeof value === "object") throw new Error(`${name} must be a text, a number or a boolean.`);
  return String(value ?? "");
}
