// The texts of the QBXML reference: what messages and fields mean, which editions lack them, and samples to copy.
import { ofMember } from "./request_json.js";
import { APP } from "./router.js";
import { exampleTree } from "./trees.js";

const files = new Map();

/** Loads a JSON file once. */
function load(address) {
  if (!files.has(address)) {
    const loading = fetch(address, { credentials: "omit" }).then((response) => {
      if (!response.ok) throw new Error(`The file ${address} could not be loaded.`);
      return response.json();
    });
    loading.catch(() => files.delete(address));
    files.set(address, loading);
  }
  return files.get(address);
}

const texts = (name) => load(new URL(`../reference/${name}.json`, import.meta.url).href);

/** Loads what every page of the reference shows: `{messages, fieldText, missing, samples}`. */
export async function referenceData() {
  const [messages, fields, missing, samples] = await Promise.all([
    texts("messages"),
    texts("fields"),
    load(`${APP}/schema/missing_in_editions.json`),
    texts("samples"),
  ]);
  const places = new Map(
    Object.entries(missing.elements).flatMap(([editions, listed]) => listed.map((place) => [place, editions])),
  );
  return {
    messages,
    samples,
    fieldText: (name) => fieldText(fields, name),
    /** Returns the editions that lack a message or an element: "CA UK", or undefined. */
    missing: (name, parent) => (parent ? places.get(`${parent}/${name}`) : missing.messages[name]),
  };
}

/** Loads the statuses that a request can be answered with: `[{code, message, hint, retryable}]`. */
export const answersTo = (request) => load(`${APP}/schema/answers/${request}.json`);

/** Returns what a field means, or null. A name without a text of its own can have one by its ending. */
function fieldText({ texts: own, endings }, name) {
  if (own[name]) return own[name];
  const [ending, text] = endings.find(([one]) => name.endsWith(one)) ?? [];
  return text ? text.replace("{subject}", words(name.slice(0, -ending.length))) : null;
}

/** "SalesTaxPaymentCheck" → "sales tax payment check". */
const words = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .replace(/\b[A-Z](?=[a-z]|\b)/g, (letter) => letter.toLowerCase()) || "object";

const ALL_EDITIONS = 4;
/** @type {Record<string, string>} */
const NAMES = { US: "US", CA: "Canada", UK: "UK", AU: "Australia" };

/**
 * Returns the editions in words: "not in Canada, UK".
 *
 * @param {string} codes "CA UK"
 */
export function editionsText(codes) {
  const editions = codes.split(" ");
  if (editions.length === ALL_EDITIONS) return "in no desktop edition";
  if (editions.length === ALL_EDITIONS - 1)
    return `only in ${Object.keys(NAMES).flatMap((code) => (editions.includes(code) ? [] : NAMES[code]))}`;
  return `not in ${editions.map((code) => NAMES[code]).join(", ")}`;
}

/** Returns the sample of a request type: one that was written for it, or one that follows from the schema. */
export const sampleTree = (type, samples) =>
  samples[type.name] ? ofMember(type.name, samples[type.name]) : exampleTree(type);
