// The QBXML schema that the service checks requests against (src/domain/qbxml/schema/facts.py describes its format),
// and requests as trees: {name, attributes, text | children}.

import { APP, pathOf } from "./router.js";
import { declarations } from "./versions.js";

const files = new Map();

function load(...segments) {
  const file = `${pathOf(segments)}.json`;
  if (!files.has(file)) {
    const loading = fetch(`${APP}/schema/${file}`, { credentials: "omit" }).then((response) => {
      if (!response.ok) throw new Error(`The schema file ${file} could not be loaded.`);
      return response.json();
    });
    loading.catch(() => files.delete(file));
    files.set(file, loading);
  }
  return files.get(file);
}

export const requestNames = async () => [...(await load("index"))].sort((one, other) => one.localeCompare(other));
/** Loads the index of fields: a map of each name to `{requests, responses}`, the names of the types that have it. */
export async function fieldIndex() {
  const [names, fields] = await Promise.all([load("index"), load("fields")]);
  return new Map(
    Object.entries(fields).map(([field, [requests, responses]]) => [
      field,
      {
        requests: requests.map((n) => names[n]),
        responses: responses.map((n) => names[n].replace(/Rq$/, "Rs")),
      },
    ]),
  );
}

export const responseFacts = (name) => load("responses", name);

/** Loads a request type: `{name, since, attributes, content}`; `content` is a group (see `groupOf`). */
export async function requestType(name) {
  const facts = await load("requests", name);
  return {
    name,
    since: facts.since,
    attributes: facts.attributes,
    types: facts.types,
    content: groupOf(facts.content, facts.types),
  };
}

/** A group: `{kind: "sequence" | "choice", times, parts}`; parts are groups and elements. */
function groupOf(group, types) {
  const kind = group.choice ? "choice" : "sequence";
  const parts = group[kind].map((part) => (Array.isArray(part) ? elementOf(part, types) : groupOf(part, types)));
  // An alternative is never required by itself.
  if (kind === "choice") for (const part of parts) part.alternative = true;
  return { kind, times: group.times ?? "1", ...timesOf(group.times ?? "1"), parts };
}

/** An element: `{kind: "element", name, required, repeats, base | values | content, since, length, …}`. */
function elementOf([name, times, type, facts = {}], types) {
  const element = { kind: "element", name, times, ...timesOf(times), ...facts };
  const known = typeof type === "number" ? types[type] : type;
  if (typeof known === "string") element.base = known;
  else if (Array.isArray(known)) element.values = known;
  else Object.defineProperty(element, "content", { get: () => groupOf(known, types), enumerable: true });
  return element;
}

const timesOf = (times) => ({ required: times === "1" || times === "+", repeats: !["1", "?"].includes(times) });

/** Returns the names of all elements in a group, in the order that QBXML requires. */
export function namesIn(part) {
  return part.kind === "element" ? [part.name] : part.parts.flatMap(namesIn);
}

/**
 * Sorts children in the order that QBXML requires. Elements that repeat together, such as kinds of lines, keep theirs.
 */
export function inOrder(group, children) {
  const ranks = new Map();
  let rank = 0;
  const visit = (part) => {
    if (part.kind === "element") ranks.set(part.name, (rank += 1));
    else if (part.repeats) {
      rank += 1;
      for (const name of namesIn(part)) ranks.set(name, rank);
    } else part.parts.forEach(visit);
  };
  visit(group);
  return [...children].sort(
    (one, other) => (ranks.get(one.name) ?? Infinity) - (ranks.get(other.name) ?? Infinity) || 0,
  );
}

/** The values of each base type, in words and as the pattern that the service checks too. */
export const BASES = {
  STRTYPE: { name: "text" },
  MACROTYPE: { name: "macro" },
  UUIDTYPE: { name: "UUID" },
  IDTYPE: { name: "id", sample: "80000001-1234567890", maximum: 36 },
  BOOLTYPE: { name: "true or false", sample: "true" },
  INTTYPE: { name: "whole number", sample: "1", pattern: /^\s*[+-]?\d+\s*$/ },
  AMTTYPE: {
    name: "amount",
    sample: "97.50",
    pattern: /^([+-]?\d{1,13}(\.\d{2})?)?$/,
    help: "with two decimals or none",
  },
  PRICETYPE: {
    name: "price",
    sample: "12.5",
    pattern: /^([+-]?\d{1,10}(\.\d{1,5})?)?$/,
    help: "at most 5 decimals",
  },
  QUANTYPE: { name: "quantity", sample: "2", pattern: /^([+-]?\d{1,10}(\.\d{1,5})?)?$/, help: "at most 5 decimals" },
  PERCENTTYPE: {
    name: "percentage",
    sample: "10.0",
    pattern: /^([+-]?\d{1,10}(\.\d{1,5})?)?$/,
    help: "at most 5 decimals",
  },
  FLOATTYPE: { name: "number", sample: "1.0", pattern: /^\s*([+-]?(\d+(\.\d*)?|\.\d+))?\s*$/ },
  DATETYPE: { name: "date", sample: "2026-01-31", pattern: /^\s*(\d{4}-\d\d-\d\d)?\s*$/, help: "like 2026-01-31" },
  DATETIMETYPE: {
    name: "date and time",
    sample: "2026-01-31T13:30:00-08:00",
    pattern: /^\s*(\d{4}-\d{1,2}-\d{1,2}(T\d{1,2}(:\d{1,2}(:\d{1,2}([+-]\d{1,2}:\d{1,2})?)?)?)?)?\s*$/,
    help: "like 2026-01-31T13:30:00-08:00",
  },
  TIMEINTERVALTYPE: {
    name: "time interval",
    sample: "PT8H30M",
    pattern: /^\s*(-?PT(?=\d)(\d+H)?(\d+M)?(\d+S)?)?\s*$/,
    help: "like PT8H30M",
  },
  GUIDTYPE: {
    name: "GUID",
    sample: "{00000000-0000-0000-0000-000000000000}",
    pattern: /^(0|\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\})?$/i,
    help: "0, or a GUID in braces",
  },
};

/** Returns the problem of a text, or null. */
export function textProblem(element, text) {
  if (!text) return null;
  const base = BASES[element.base] ?? {};
  if (base.pattern && !base.pattern.test(text)) return `Not a ${base.name}${base.help ? `: ${base.help}` : ""}.`;
  const maximum = Math.max(element.length ?? 0, element.length_abroad ?? 0) || base.maximum;
  if (maximum && text.length > maximum) return `At most ${maximum} characters; this has ${text.length}.`;
  if (element.least !== undefined && Number(text) < element.least) return `At least ${element.least}.`;
  if (element.most !== undefined && Number(text) > element.most) return `At most ${element.most}.`;
  return null;
}

// --- Trees -------------------------------------------------------------------------------------------------------

/** Returns a new tree of an element with its required elements. */
export function emptyTree(element) {
  return element.content
    ? { name: element.name, children: emptyChildren(element.content) }
    : { name: element.name, text: "" };
}

export function emptyChildren(group) {
  if (group.kind === "choice") return group.required && group.parts.length ? emptyPart(group.parts[0]) : [];
  return group.parts.flatMap((part) => (part.required ? emptyPart(part) : []));
}

/** The fields that people fill in first in a line or an address. A rate or a cost makes the amount. */
const USUAL = new Set([
  "ItemRef",
  "ItemGroupRef",
  "AccountRef",
  "Desc",
  "Quantity",
  "Rate",
  "Cost",
  "TxnID",
  "PaymentAmount",
  "Addr1",
  "City",
  "State",
  "PostalCode",
  "FullName",
]);
const HAS_USUAL = /Line(Group)?(Add|Mod)?$|^AppliedToTxn(Add|Mod)$|Address$|Ref$/;

/** Returns a new tree of an element that a person adds to a form: with its required and its usual elements. */
export function newTree(element) {
  if (!element.content) return emptyTree(element);
  if (!HAS_USUAL.test(element.name)) return emptyTree(element);
  const names = new Set(namesIn(element.content));
  const usual = new Set([...names].filter((name) => USUAL.has(name)));
  if (names.has("Amount") && !usual.has("Rate") && !usual.has("Cost")) usual.add("Amount");
  return { name: element.name, children: usualChildren(element.content, usual) };
}

function usualChildren(part, usual) {
  if (part.kind === "element")
    return (part.required && !part.alternative) || usual.has(part.name) ? [newTree(part)] : [];
  const isUsual = (one) => namesIn(one).some((name) => usual.has(name));
  if (!isUsual(part)) return part.required && !part.alternative ? emptyChildren(part) : [];
  return part.kind === "choice"
    ? usualChildren(part.parts.find(isUsual), usual)
    : part.parts.flatMap((one) => usualChildren(one, usual));
}

export const emptyPart = (part) => (part.kind === "element" ? [emptyTree(part)] : emptyChildren(part));

const SAMPLES = {
  FullName: "Example",
  Name: "Example",
  MaxReturned: "100",
  EditSequence: "1700000000",
  TxnID: "1A2B-1700000000",
  RefNumber: "1001",
  Email: "books@example.com",
  Phone: "555-0100",
  City: "Middletown",
  State: "CA",
  PostalCode: "94001",
};

/** Useful optional elements of common types, with sample texts. */
const STARTERS = {
  InvoiceAddRq: {
    InvoiceAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      TxnDate: "2026-01-31",
      RefNumber: "1001",
      InvoiceLineAdd: {
        ItemRef: { FullName: "Consulting" },
        Desc: "One hour of work",
        Quantity: "1",
        Rate: "97.50",
      },
    },
  },
  SalesReceiptAddRq: {
    SalesReceiptAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      SalesReceiptLineAdd: { ItemRef: { FullName: "Consulting" }, Quantity: "1", Rate: "97.50" },
    },
  },
  EstimateAddRq: {
    EstimateAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      EstimateLineAdd: { ItemRef: { FullName: "Consulting" }, Quantity: "1" },
    },
  },
  SalesOrderAddRq: {
    SalesOrderAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      SalesOrderLineAdd: { ItemRef: { FullName: "Consulting" }, Quantity: "1" },
    },
  },
  BillAddRq: {
    BillAdd: {
      VendorRef: { FullName: "Millbrook Supplies" },
      ExpenseLineAdd: { AccountRef: { FullName: "Office Supplies" }, Amount: "97.50" },
    },
  },
  CustomerAddRq: {
    CustomerAdd: { Name: "Harbor Street Bakery", CompanyName: "Harbor Street Bakery", Email: "books@example.com" },
  },
  VendorAddRq: { VendorAdd: { Name: "Millbrook Supplies" } },
  ReceivePaymentAddRq: {
    ReceivePaymentAdd: {
      CustomerRef: { FullName: "Harbor Street Bakery" },
      TotalAmount: "97.50",
      IsAutoApply: "true",
    },
  },
  JournalEntryAddRq: {
    JournalEntryAdd: {
      JournalDebitLine: { AccountRef: { FullName: "Office Supplies" }, Amount: "97.50" },
      JournalCreditLine: { AccountRef: { FullName: "Checking" }, Amount: "97.50" },
    },
  },
};

/** Returns an example of a request type that the service accepts. */
export function exampleTree(type) {
  const children = sampled(emptyChildren(type.content), type.content);
  const starter = STARTERS[type.name];
  const tree = { name: type.name, attributes: {}, children };
  if (starter) tree.children = fromStarter(starter);
  else if (type.name.endsWith("QueryRq") && namesIn(type.content).includes("MaxReturned"))
    tree.children = [{ name: "MaxReturned", text: "100" }];
  return tree;
}

/**
 * Returns the form that a request type opens with: the fields of its example, which becomes a placeholder. Nothing is
 * filled in that could reach the books. The limit of a query stays, because a response can be too large without one.
 */
export function formTree(type) {
  const isLimit = (node) => node.name === "MaxReturned" && type.name.endsWith("QueryRq");
  const emptied = ({ text, children, ...node }) =>
    children
      ? { ...node, children: children.map(emptied) }
      : isLimit(node)
        ? { ...node, text }
        : { ...node, text: "", example: text };
  return emptied(exampleTree(type));
}

const fromStarter = (facts) =>
  Object.entries(facts).map(([name, value]) =>
    typeof value === "string" ? { name, text: value } : { name, children: fromStarter(value) },
  );

function sampled(children, group) {
  const elements = new Map(elementsIn(group).map((element) => [element.name, element]));
  return children.map((child) => {
    const element = elements.get(child.name);
    if (element.content) {
      const inside = child.children.length ? child.children : emptyPart(firstPart(element.content));
      return { ...child, children: sampled(inside, element.content) };
    }
    return { ...child, text: sampleText(element) };
  });
}

/** For a reference without required children (`CustomerRef`), the full name is the best example. */
function firstPart(content) {
  return elementsIn(content).find(({ name }) => name === "FullName") ?? content.parts[0];
}

const elementsIn = (part) => (part.kind === "element" ? [part] : part.parts.flatMap(elementsIn));
export { elementsIn };

function sampleText(element) {
  if (element.values) return element.values[0];
  const text = SAMPLES[element.name] ?? BASES[element.base]?.sample ?? "Example";
  return element.length ? text.slice(0, element.length) : text;
}

/**
 * Returns a tree without empty fields, which were added to a form and not filled in. `origin` leads back to the form's
 * tree.
 */
export function pruned(tree) {
  if (!tree.children) return { ...tree, origin: tree };
  const children = tree.children.map(pruned).filter((child) => !isBlank(child));
  return { ...tree, children, origin: tree };
}

/** Whether a tree has no text. */
export const isBlank = (tree) =>
  tree.children ? !hasAttributes(tree) && tree.children.every(isBlank) : tree.text === "";

/** Whether a tree has an element without text. In a change, it clears a field; a form would leave it out. */
export const hasBlanks = (tree) => tree.children?.some((child) => isBlank(child) || hasBlanks(child)) ?? false;

/**
 * Returns the element of a form that a JSON pointer of the service means: `/request/children/0/text` of the pruned
 * tree.
 */
export function elementAt(tree, pointer) {
  let node = tree;
  for (const [, position] of pointer.matchAll(/\/children\/(\d+)/g)) node = node.children?.[position] ?? node;
  return node.origin;
}

/** Returns what a form lacks: `[{element, message, isMissing}]`, with the element of the tree at which it is shown. */
export function missingIn(group, tree) {
  if (group.kind === "choice") {
    const used = group.parts.find((part) =>
      tree.children.some((child) => namesIn(part).includes(child.name) && !isBlank(child)),
    );
    if (used?.kind === "element") return missingInside(used, tree);
    if (used) return missingIn(used, tree);
    const blank = tree.children.find(({ name }) => namesIn(group).includes(name));
    return group.required && !group.alternative
      ? [{ element: blank ?? tree, message: `Fill in one of ${listed(namesIn(group))}.`, isMissing: true }]
      : [];
  }
  return group.parts.flatMap((part) => {
    if (part.kind !== "element")
      return !part.required &&
        namesIn(part).every((name) => !tree.children.some((child) => child.name === name && !isBlank(child)))
        ? []
        : missingIn(part, tree);
    const found = tree.children.filter(({ name }) => name === part.name);
    const filled = found.filter((child) => !isBlank(child));
    if (filled.length || !part.required) return missingInside(part, { children: filled });
    const inside = found.length && part.content ? missingIn(part.content, found[0]) : [];
    return inside.length
      ? inside
      : [{ element: found[0] ?? tree, message: `${part.name} is required.`, isMissing: true }];
  });
}

const missingInside = (part, tree) =>
  part.content
    ? tree.children
        .filter((child) => child.name === part.name && !isBlank(child))
        .flatMap((child) => missingIn(part.content, child))
    : [];
const listed = (names) =>
  names.length > 4
    ? `${names.slice(0, 3).join(", ")} or ${names.length - 3} others`
    : names.join(", ").replace(/, ([^,]*)$/, " or $1");

const hasAttributes = (tree) => Object.keys(tree.attributes ?? {}).length > 0;

export const escaped = (text) =>
  text.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);

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

/** Returns the request as QBXML, with declarations if there is a version. */
export function toXml(tree, version) {
  const set = `  <QBXMLMsgsRq onError="stopOnError">\n${element(tree, 2)}\n  </QBXMLMsgsRq>`;
  return `${version ? declarations(version) : ""}<QBXML>\n${set}\n</QBXML>`;
}

// The only place where the Content-Security-Policy allows a document from a string. The XML is parsed, never displayed.
const readable = globalThis.trustedTypes?.createPolicy("read-xml", { createHTML: (xml) => xml });

/**
 * Reads QBXML. Returns `{tree, version}`, without a version if the text has no declaration of one; throws Error with a
 * sentence.
 */
export function fromXml(xml) {
  const document_ = new DOMParser().parseFromString(readable?.createHTML(xml.trim()) ?? xml.trim(), "application/xml");
  const failed = document_.querySelector("parsererror");
  if (failed) {
    const place = /line (\d+) at column (\d+)/.exec(failed.textContent);
    const problem = new Error(
      place ? `The XML is broken at line ${place[1]}, column ${place[2]}.` : "The XML is broken.",
    );
    if (place) Object.assign(problem, { line: Number(place[1]), column: Number(place[2]) });
    throw problem;
  }
  const request = [...document_.querySelectorAll("*")].find(
    ({ tagName }) => tagName.endsWith("Rq") && tagName !== "QBXMLMsgsRq",
  );
  if (!request) throw new Error("There is no request element, such as CustomerQueryRq.");
  const convert = (node) => {
    const attributes = Object.fromEntries(
      [...node.attributes].map(({ name, value }) => [name === "requestID" ? "request_id" : name, value]),
    );
    const base = { name: node.tagName, ...(node.attributes.length ? { attributes } : {}) };
    const empty =
      !node.children.length && (node === request || (!node.textContent.trim() && node.textContent.includes("\n")));
    return node.children.length || empty
      ? { ...base, children: [...node.children].map(convert) }
      : { ...base, text: node.textContent };
  };
  const tree = convert(request);
  const declaration = [...document_.childNodes].find(
    ({ nodeType, target }) => nodeType === Node.PROCESSING_INSTRUCTION_NODE && target === "qbxml",
  );
  const version = /version\s*=\s*["']([^"']*)["']/.exec(declaration?.data)?.[1];
  return { tree: { attributes: {}, ...tree }, version };
}
