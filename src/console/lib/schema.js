// The QBXML schema that the service checks requests against (src/domain/qbxml/schema/facts.py describes its format),
// and requests as trees: {name, attributes, text | children}.

import { APP, pathOf } from "./router.js";

/**
 * @typedef {{required: boolean, repeats: boolean, times: string, alternative?: boolean}} Occurrence An alternative of
 *   a choice is never required by itself.
 * @typedef {Occurrence & {kind: "sequence" | "choice", parts: Part[]}} Group
 * @typedef {Occurrence & {kind: "element", name: string, base?: string, values?: string[], content?: Group,
 *   since?: string, length?: number, length_abroad?: number, least?: number, most?: number, default?: unknown}} Element
 *   It has a base type, values, or content.
 * @typedef {Element | Group} Part
 * @typedef {{name: string, since?: string, attributes: any, types: any[], content: Group}} RequestType
 */

const files = new Map();

/**
 * @param {string[]} segments
 * @returns {Promise<any>}
 */
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

/** @param {string} name */
export const responseFacts = (name) => load("responses", name);

/**
 * Loads a request type.
 *
 * @param {string} name
 * @returns {Promise<RequestType>}
 */
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

/**
 * @param {any} group
 * @param {any[]} types
 * @returns {Group}
 */
function groupOf(group, types) {
  const kind = group.choice ? "choice" : "sequence";
  /** @type {Part[]} */
  const parts = group[kind].map((part) => (Array.isArray(part) ? elementOf(part, types) : groupOf(part, types)));
  // An alternative is never required by itself.
  if (kind === "choice") for (const part of parts) part.alternative = true;
  return { kind, times: group.times ?? "1", ...timesOf(group.times ?? "1"), parts };
}

/**
 * @param {any[]} entry
 * @param {any[]} types
 * @returns {Element}
 */
function elementOf([name, times, type, facts], types) {
  /** @type {Element} */
  const element = { kind: "element", name, times, ...timesOf(times), ...facts };
  const known = typeof type === "number" ? types[type] : type;
  if (typeof known === "string") element.base = known;
  else if (Array.isArray(known)) element.values = known;
  else Object.defineProperty(element, "content", { get: () => groupOf(known, types), enumerable: true });
  return element;
}

/** @param {string} times */
const timesOf = (times) => ({ required: times === "1" || times === "+", repeats: !["1", "?"].includes(times) });

/**
 * Returns the names of all elements in a group, in the order that QBXML requires.
 *
 * @param {Part} part
 * @returns {string[]}
 */
export function namesIn(part) {
  return part.kind === "element" ? [part.name] : part.parts.flatMap(namesIn);
}

/**
 * Sorts children in the order that QBXML requires. Elements that repeat together, such as kinds of lines, keep theirs.
 *
 * @template {{name: string}} Named
 * @param {Group} group
 * @param {Named[]} children
 */
export function inOrder(group, children) {
  const ranks = new Map();
  let rank = 0;
  const visit = (/** @type {Part} */ part) => {
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

/**
 * The values of each base type, in words and as the pattern that the service checks too.
 *
 * @typedef {{name: string, sample?: string, maximum?: number, pattern?: RegExp, help?: string}} BaseType
 * @typedef {BaseType & {isDecimal?: boolean}} Base
 * @type {Record<string, Base>}
 */
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
    isDecimal: true,
  },
  PRICETYPE: {
    name: "price",
    sample: "12.5",
    pattern: /^([+-]?\d{1,10}(\.\d{1,5})?)?$/,
    help: "at most 5 decimals",
    isDecimal: true,
  },
  QUANTYPE: {
    name: "quantity",
    sample: "2",
    pattern: /^([+-]?\d{1,10}(\.\d{1,5})?)?$/,
    help: "at most 5 decimals",
    isDecimal: true,
  },
  PERCENTTYPE: {
    name: "percentage",
    sample: "10.0",
    pattern: /^([+-]?\d{1,10}(\.\d{1,5})?)?$/,
    help: "at most 5 decimals",
    isDecimal: true,
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

/** A number with a comma before its decimals, as many languages have it. Three digits may mean a thousand. */
const DECIMAL_COMMA = /^\s*[+-]?\d+,(\d{1,2}|\d{4,5})\s*$/;

/**
 * Returns the problem of a text, or null.
 *
 * @param {Element} element
 * @param {string} text
 */
export function textProblem(element, text) {
  if (!text) return null;
  const base = BASES[element.base ?? ""] ?? { name: "" };
  const corrected = base.isDecimal && DECIMAL_COMMA.test(text) && text.trim().replace(",", ".");
  if (corrected && !textProblem(element, corrected)) return `Write a point before the decimals: ${corrected}.`;
  if (base.pattern && !base.pattern.test(text)) {
    const article = /^[aeiou]/.test(base.name) ? "an" : "a";
    return `Not ${article} ${base.name}${base.help ? `: ${base.help}` : ""}.`;
  }
  const maximum = Math.max(element.length ?? 0, element.length_abroad ?? 0) || base.maximum;
  if (maximum && text.length > maximum) return `At most ${maximum} characters; this has ${text.length}.`;
  if (element.least !== undefined && Number(text) < element.least) return `At least ${element.least}.`;
  if (element.most !== undefined && Number(text) > element.most) return `At most ${element.most}.`;
  return null;
}
