// Writes src/schema: the types of all requests, responses and records. Without FOLDER, it also writes commonjs: the
// client as a CommonJS module, for programs and tools that call `require`.
//
//   node generate.mjs [FOLDER]
//
// The sources are the schema of QBXML (src/domain/qbxml/schema/data in the repository) and docs/openapi.json. npm runs
// this when the client is installed from its folder or packed, so nothing that it writes is in version control. A
// package contains the result instead of the sources.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { apiFile, routesFile, routesOf } from "./generate-api.mjs";
import { reportTypesFile, reportsFile, reportsOf } from "./generate-reports.mjs";
import { changesFile, resourcesOf, tableFile, typesFile } from "./generate-resources.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = join(HERE, "..", "..");
const FACTS = join(REPOSITORY, "src", "domain", "qbxml", "schema", "data");
const OPENAPI = join(REPOSITORY, "docs", "openapi.json");
const SOURCE = join(HERE, "src");
const COMMONJS = join(HERE, "commonjs");

/** The type in a request of each base type. Any other one is `Text`. Numbers of JavaScript would round money. */
const WRITTEN = {
  AMTTYPE: "Money",
  PRICETYPE: "Money",
  QUANTYPE: "Numeric",
  PERCENTTYPE: "Numeric",
  FLOATTYPE: "Numeric",
  INTTYPE: "Numeric",
  BOOLTYPE: "Flag",
  DATETIMETYPE: "Moment",
};

/** What a text in a response is. */
const READ = {
  AMTTYPE: "An amount, such as 97.50.",
  PRICETYPE: "A price.",
  QUANTYPE: "A quantity.",
  PERCENTTYPE: "A percentage.",
  FLOATTYPE: "A number.",
  INTTYPE: "A whole number.",
  DATETYPE: "A date, such as 2026-01-31.",
  DATETIMETYPE: "A time, such as 2026-01-31T13:30:00-08:00.",
  TIMEINTERVALTYPE: "A duration, such as PT8H30M0S.",
};

/** Members that QuickBooks returns with each object, unless IncludeRetElement leaves them out. */
const IDENTITY = new Set([
  "ListID",
  "TxnID",
  "TxnLineID",
  "TimeCreated",
  "TimeModified",
  "EditSequence",
  "Name",
  "FullName",
]);

const load = (path) => JSON.parse(readFileSync(path, "utf8"));
const stem = (name) => name.replace(/Rq$/, "");
const text = (value) => JSON.stringify(value);

/** Names the structures of one file. A name that different structures would have begins with that of a parent. */
class Names {
  #uses = new Map();
  #order = new Map();
  /** The objects of requests and responses, which keep their names if another one has the same structure. */
  #objects = new Map();

  /** Collect a structure `{members, note}` and those in it, children first, and return its key. */
  add(element, structure, parent) {
    const members = structure.members.map((member) =>
      typeof member.kind === "string" ? member : { ...member, key: this.add(member.name, member.kind, element) },
    );
    const key = JSON.stringify([structure.note, members.map(({ kind, key, ...rest }) => [key ?? kind, rest])]);
    if (/R[qs]$/.test(parent)) this.#objects.set(element, key);
    if (!this.#order.has(key)) {
      this.#order.set(key, { element, parent, members, note: structure.note });
      if (!this.#uses.has(element)) this.#uses.set(element, []);
      this.#uses.get(element).push(key);
    }
    return key;
  }

  /** Return the TypeScript of all structures. */
  written() {
    const taken = new Set([...this.#uses].filter(([, keys]) => keys.length === 1).map(([name]) => name));
    const names = new Map();
    for (const [key, { element, parent }] of this.#order) {
      let name = element;
      if (this.#uses.get(element).length > 1) {
        const base = (name = parent + element);
        for (let number = 2; taken.has(name); number++) name = base + number;
      }
      taken.add(name);
      names.set(key, name);
    }
    const lines = [];
    for (const [key, { members, note }] of this.#order) {
      if (note) lines.push(`/** ${note} */`);
      lines.push(`export interface ${names.get(key)} {`);
      for (const { name, kind, key: inner, form = "{}", required, note: about } of members) {
        if (about) lines.push(`  /** ${about} */`);
        const type = form.replaceAll("{}", inner ? names.get(inner) : kind);
        lines.push(`  ${/^\w+$/.test(name) ? name : text(name)}${required ? "" : "?"}: ${type};`);
      }
      lines.push("}");
    }
    for (const [element, key] of this.#objects) {
      if (!taken.has(element)) lines.push(`export interface ${element} extends ${names.get(key)} {}`);
    }
    return lines;
  }
}

// Requests

const TIMES = { 1: [1, 1], "?": [0, 1], "*": [0, Infinity], "+": [1, Infinity] };

function bounds(times = "1") {
  if (times in TIMES) return TIMES[times];
  const [least, most] = times.split("..");
  return [Number(least), Number(most)];
}

const literal = (values) => values.map(text).join(" | ");

function attributeMembers(attributes, types) {
  return Object.entries(attributes).map(([name, key]) => ({
    name: `@${name}`,
    kind: typeof key === "string" ? "string" : literal(types[key]),
  }));
}

function groupMembers(group, types, certain = true, repeats = false) {
  const [least, most] = bounds(group.times);
  const particles = group.choice ?? group.sequence;
  const isCertain = certain && least > 0 && (!group.choice || particles.length === 1);
  return particles.flatMap((particle) =>
    Array.isArray(particle)
      ? [requestMember(particle, types, isCertain, repeats || most !== 1)]
      : groupMembers(particle, types, isCertain, repeats || most !== 1),
  );
}

function requestMember([name, times, key, facts = {}], types, certain, repeatsInGroup) {
  const [least, most] = bounds(times);
  const required = certain && least > 0;
  const repeats = repeatsInGroup || most !== 1;
  let note = notes(facts, most);
  const entry = typeof key === "string" ? undefined : types[key];
  if (entry && !Array.isArray(entry)) {
    let form = repeats ? "readonly {}[]" : "{}";
    let members = [...attributeMembers(facts.attributes ?? {}, types), ...groupMembers(entry, types)];
    if (name.endsWith("Ref") && members.every((member) => ["ListID", "FullName"].includes(member.name))) {
      const limits = members.filter((member) => member.note).map((member) => `${member.name}: ${member.note}`);
      members = members.map((member) => ({ name: member.name, kind: "Text" }));
      note = [note, ...limits].filter(Boolean).join(" ");
      form = repeats ? "readonly ({} | Named)[]" : "{} | Named";
    }
    return { name, kind: { members, note: "" }, form, required, note };
  }
  let kind = entry ? literal(entry) : (WRITTEN[key] ?? "Text");
  if ("useMacro" in (facts.attributes ?? {})) kind += " | Macro";
  return { name, kind, form: repeats ? "{} | readonly ({})[]" : "{}", required, note };
}

function notes(facts, most) {
  const abroad = "length_abroad" in facts ? ` (${facts.length_abroad} outside the US)` : "";
  return [
    "length" in facts && `At most ${facts.length} characters${abroad}.`,
    ("least" in facts || "most" in facts) && `From ${facts.least ?? "…"} to ${facts.most ?? "…"}.`,
    most !== 1 && most !== Infinity && `At most ${most} of them.`,
    facts.default && `An empty text means ${facts.default}.`,
    ...Object.entries(facts.added ?? {}).map(([value, version]) => `${value} since QBXML ${version}.`),
    "since" in facts && `Since QBXML ${facts.since}.`,
  ]
    .filter(Boolean)
    .join(" ");
}

function requestsFile(requests) {
  const names = new Names();
  for (const [name, facts] of Object.entries(requests)) {
    const members = [...attributeMembers(facts.attributes, facts.types), ...groupMembers(facts.content, facts.types)];
    names.add(name, { members, note: facts.since === "1.0" ? name : `${name}. Since QBXML ${facts.since}.` }, "");
  }
  const queries = Object.keys(requests).filter((name) => isIterable(requests[name]));
  return [
    "// The requests of QBXML: the elements of each, with their limits and the version that added them.",
    'import type { Flag, Macro, Moment, Money, Named, Numeric, Text } from "../values.cjs";',
    ...names.written(),
    "/** The content of each request by its name. */",
    "export interface Requests {",
    ...Object.keys(requests).map((name) => `  ${name}: ${name};`),
    "}",
    "/** The queries that can return their objects page by page. */",
    `export type IterableName = ${literal(queries)};`,
  ];
}

// Responses

function responseMember(name, value, types, since, required, note) {
  const repeats = Array.isArray(value);
  const inner = repeats ? value[0] : value;
  const form = repeats ? "{}[]" : "{}";
  const attributes = types.attributes[name];
  if (typeof inner !== "object" && !attributes) {
    const base = types.values[name];
    const about = [READ[base], note].filter(Boolean).join(" ");
    return { name, kind: base === "BOOLTYPE" ? "boolean" : "string", form, required, note: about };
  }
  const members = [
    ...Object.keys(attributes ?? {}).map((attribute) => ({
      name: `@${attribute}`,
      kind: attribute === "rowNumber" ? "number" : "string",
    })),
    ...Object.entries(typeof inner === "object" ? inner : {}).map(([child, content]) =>
      responseMember(
        child,
        content,
        types,
        since,
        name.endsWith("Ret") && IDENTITY.has(child),
        since[name]?.[child] ? `Since QBXML ${since[name][child]}.` : "",
      ),
    ),
  ];
  return { name, kind: { members, note: "" }, form, required, note };
}

function responsesFile(responses, types, since) {
  const names = new Names();
  for (const [name, facts] of Object.entries(responses)) {
    const members = Object.entries(facts).map(([child, value]) => responseMember(child, value, types, since, true, ""));
    names.add(`${stem(name)}Rs`, { members, note: `The result of ${name}.` }, "");
  }
  return [
    "// The responses of QBXML: the elements of each. Every value is a text or a boolean, so that amounts stay exact. An",
    "// object has all members without a question mark, unless IncludeRetElement left them out.",
    ...names.written(),
    "/** The result of each request by its name. */",
    "export interface Results {",
    ...Object.keys(responses).map((name) => `  ${name}: ${stem(name)}Rs;`),
    "}",
  ];
}

// Records

function recordsFile(schemas) {
  const lines = ["// The objects of the API, as its OpenAPI document describes them."];
  for (const [name, schema] of Object.entries(schemas)) {
    if (schema.description) lines.push(`/** ${schema.description.replaceAll("*/", "*\\/")} */`);
    if (!schema.properties) {
      lines.push(`export type ${name} = ${openapiType(schema)};`);
      continue;
    }
    lines.push(`export interface ${name} {`);
    for (const [member, value] of Object.entries(schema.properties)) {
      if (value.description) lines.push(`  /** ${value.description.replaceAll("*/", "*\\/")} */`);
      const optional = schema.required?.includes(member) ? "" : "?";
      lines.push(`  ${/^\w+$/.test(member) ? member : text(member)}${optional}: ${openapiType(value)};`);
    }
    const others = schema.additionalProperties;
    if (others && typeof others === "object") lines.push(`  [name: string]: ${openapiType(others)} | undefined;`);
    lines.push("}");
  }
  return lines;
}

function openapiType(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts) return [...new Set(parts.map(openapiType))].join(" | ");
  if ("const" in schema) return text(schema.const);
  if (schema.enum) return literal(schema.enum);
  if (Array.isArray(schema.type)) return schema.type.map((type) => openapiType({ ...schema, type })).join(" | ");
  if (schema.type === "array") return `(${openapiType(schema.items)})[]`;
  if (schema.type === "object") {
    const values = schema.additionalProperties;
    return `{ [name: string]: ${values && typeof values === "object" ? openapiType(values) : "unknown"} }`;
  }
  const simple = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };
  return simple[schema.type] ?? "unknown";
}

// Facts

function factsFile(requests, responses) {
  const lists = Object.fromEntries(
    Object.entries(responses)
      .map(([name, facts]) => [name, Object.keys(facts).filter((member) => Array.isArray(facts[member]))])
      .filter(([, members]) => members.length > 0),
  );
  const single = Object.fromEntries(
    Object.entries(requests)
      .filter(([, facts]) => isIterable(facts))
      .map(([name, facts]) => [name, singleMembers(facts.content)])
      .filter(([, members]) => members.length > 0),
  );
  return [
    "/** The elements that may repeat in the result of each request. @type {Record<string, string[]>} */",
    `export const LISTS = ${JSON.stringify(lists, null, 2)};`,
    "/** The queries that can be sent in pages, and the elements with which each cannot. @type {Record<string, string[]>} */",
    `export const SINGLE = ${JSON.stringify(single, null, 2)};`,
  ];
}

const isIterable = (facts) => "iterator" in facts.attributes;

/** Return the elements with which a query cannot be sent in pages: MaxReturned, and its alternatives. */
function singleMembers(group) {
  const particles = group.choice ?? group.sequence;
  const names = particles.filter(Array.isArray).map(([name]) => name);
  if (names.includes("MaxReturned")) return ["MaxReturned"];
  for (const inner of particles.filter((particle) => !Array.isArray(particle))) {
    const found = singleMembers(inner);
    if (found.length > 0) return [...found, ...(group.choice ? names : [])];
  }
  return [];
}

// CommonJS

const IMPORT = /^import (\{[^}]*\}) from ("(?:\.|node:)[^"]*");$/gm;
const REEXPORT = /^export \{([^}]*)\} from ("\.[^"]*");$/gm;
const EXPORT = /^export (?=(?:class|const|(?:async )?function) (\w+))/gm;
const OTHER = /^(?:import|export)\b.*$|\bimport(?:\.meta|\()/m;

/** Return a module of the client as a CommonJS module, for the forms of import and export that the client uses. */
export function commonJs(module) {
  const names = [...module.matchAll(EXPORT)].map(([, name]) => name);
  for (const [, again, source] of module.matchAll(REEXPORT)) {
    names.push(...again.match(/\w+/g).map((name) => `${name}: require(${source}).${name}`));
  }
  const body = module.replace(IMPORT, "const $1 = require($2);").replace(REEXPORT, "").replace(EXPORT, "");
  const other = OTHER.exec(body);
  if (other) throw new Error(`generate.mjs cannot write this as CommonJS: ${other[0]}`);
  return `"use strict";\n${body}\nmodule.exports = { ${names.join(", ")} };\n`;
}

function writeCommonJs() {
  rmSync(COMMONJS, { recursive: true, force: true });
  mkdirSync(join(COMMONJS, "schema"), { recursive: true });
  writeFileSync(join(COMMONJS, "package.json"), '{ "type": "commonjs" }\n');
  for (const name of ["index.d.ts", "express.d.ts", "files.d.ts"]) {
    const types = readFileSync(join(SOURCE, name), "utf8");
    writeFileSync(join(COMMONJS, name), types.replaceAll(/from "\.\/(.+\.cjs)"/g, 'from "../src/$1"'));
  }
  for (const name of readdirSync(SOURCE, { recursive: true }).filter((path) => path.endsWith(".js"))) {
    writeFileSync(join(COMMONJS, name), commonJs(readFileSync(join(SOURCE, name), "utf8")));
  }
}

/** Write all files into a folder. */
export function main(folder = join(SOURCE, "schema")) {
  const names = load(join(FACTS, "index.json"));
  const requests = Object.fromEntries(names.map((name) => [name, load(join(FACTS, "requests", `${name}.json`))]));
  const responses = Object.fromEntries(
    names.map((name) => [name, load(join(FACTS, "responses", `${stem(name)}Rs.json`))]),
  );
  const document = load(OPENAPI);
  const resources = resourcesOf(requests, responses);
  const reports = reportsOf(requests);
  const routes = routesOf(document, openapiType);
  const files = {
    "requests.d.cts": requestsFile(requests),
    "responses.d.cts": responsesFile(
      responses,
      load(join(FACTS, "returned_types.json")),
      load(join(FACTS, "returned_since.json")),
    ),
    "records.d.cts": recordsFile(document.components.schemas),
    "resources.d.cts": typesFile(resources),
    "changes.d.cts": changesFile(resources),
    "kinds.js": tableFile(requests, responses, resources),
    "reports.d.cts": reportTypesFile(reports, requests),
    "report-names.js": reportsFile(reports),
    "api.d.cts": apiFile(routes, Object.keys(document.components.schemas)),
    "routes.js": routesFile(routes),
    "facts.js": factsFile(requests, responses),
    "version.js": [`export const VERSION = ${text(load(join(HERE, "package.json")).version)};`],
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, lines] of Object.entries(files)) writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url) && existsSync(FACTS)) {
  main(process.argv[2]);
  if (!process.argv[2]) writeCommonJs();
}
