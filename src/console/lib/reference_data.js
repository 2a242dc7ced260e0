// The texts of the QBXML reference: what messages and fields mean, which editions lack them, and samples to copy.
import { exampleTree } from "./schema.js";
import { APP } from "./router.js";

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
  const [messages, fields, missing, samples] = await Promise.all([texts("messages"), texts("fields"), load(`${APP}/schema/missing_in_editions.json`), texts("samples")]);
  const places = new Map(Object.entries(missing.elements).flatMap(([editions, listed]) => listed.map((place) => [place, editions])));
  return {
    messages, samples,
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
const words = (name) => name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2").replace(/\b[A-Z](?=[a-z]|\b)/g, (letter) => letter.toLowerCase()) || "object";

const ALL_EDITIONS = 4;
const NAMES = { US: "US", CA: "Canada", UK: "UK", AU: "Australia" };

/** Returns the editions in words: "not in Canada and the UK". */
export function editionsText(codes) {
  const editions = codes.split(" ");
  if (editions.length === ALL_EDITIONS) return "in no desktop edition";
  if (editions.length === ALL_EDITIONS - 1) return `only in ${Object.entries(NAMES).find(([code]) => !editions.includes(code))[1]}`;
  return `not in ${editions.map((code) => NAMES[code]).join(", ")}`;
}

/** Returns the sample of a request type: one that was written for it, or one that follows from the schema. */
export function sampleTree(type, samples) {
  return samples[type.name] ? treeOf(type.name, samples[type.name]) : exampleTree(type);
}

/** Reads the short form: attributes begin with `@`, an element that repeats is an array. */
function treeOf(name, value) {
  if (typeof value === "string") return { name, text: value };
  const attributes = Object.fromEntries(Object.entries(value).filter(([one]) => one.startsWith("@")).map(([one, text]) => [one.slice(1), text]));
  const children = Object.entries(value).filter(([one]) => !one.startsWith("@")).flatMap(([one, inside]) => [inside].flat().map((part) => treeOf(one, part)));
  return { name, attributes, children };
}

/** Returns a tree in the short form. */
export function shortForm({ name, attributes = {}, text, children }) {
  if (!children) return { [name]: text };
  const inside = Object.fromEntries(Object.entries(attributes).map(([one, value]) => [`@${one}`, value]));
  for (const child of children) {
    const value = shortForm(child)[child.name];
    inside[child.name] = child.name in inside ? [inside[child.name], value].flat() : value;
  }
  return { [name]: inside };
}
