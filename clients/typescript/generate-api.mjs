// Makes the methods of `books.api`: one for each route of the API, from `docs/openapi.json`.

const METHODS = new Set(["get", "post", "put", "patch", "delete"]);
const KEY = "Idempotency-Key";

/** Return the routes by their names in the client. `typeOf` returns the type of a JSON schema. */
export function routesOf(document, typeOf) {
  const found = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => [
        camelCase(operation.operationId),
        route(method, path, operation, document.components.schemas, typeOf),
      ]),
  );
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function route(method, path, operation, schemas, typeOf) {
  const given = operation.parameters ?? [];
  const query = given.filter((one) => one.in === "query");
  const body = schemaOf(operation.requestBody);
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith("2"));
  const answer = schemaOf(success);
  const properties = schemas[answer?.$ref?.split("/").at(-1)]?.properties ?? {};
  const returnsData = Object.keys(properties).join() === "data";
  return {
    method: method.toUpperCase(),
    path: path.replaceAll(/\{(\w+)\}/g, (_, name) => `{${camelCase(name)}}`),
    ids: given.filter((one) => one.in === "path" && one.name !== "connection_id").map(({ name }) => camelCase(name)),
    parameters: Object.fromEntries(query.map(({ name }) => [camelCase(name), name])),
    joined: query.filter(({ explode }) => explode === false).map(({ name }) => camelCase(name)),
    body: body && (operation.requestBody.required ? "required" : "optional"),
    hasKey: given.some(({ name }) => name === KEY),
    returnsData,
    types: {
      body: body && typeOf(body),
      parameters: query.map((one) => ({
        name: camelCase(one.name),
        type: typeOf(one.schema).replace(/^\((.*)\)\[\]$/, "readonly ($1)[]"),
        note: noteOf(one),
      })),
      result: returnsData ? typeOf(properties.data) : answer ? typeOf(answer) : "void",
    },
    summary: (operation.summary ?? "").replace(/\.$/, ""),
  };
}

/** Return what a caller should know of a parameter. */
function noteOf({ description = "", schema: { minimum, maximum, maxLength, default: value } }) {
  return [
    description,
    (minimum !== undefined || maximum !== undefined) && `From ${minimum ?? "…"} to ${maximum ?? "…"}.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
    value !== undefined && `${value} by default.`,
  ]
    .filter(Boolean)
    .join(" ")
    .replaceAll("*/", "*\\/");
}

/** Return the schema of the JSON in a body, if it has one. */
const schemaOf = (content) => content?.content?.["application/json"]?.schema;

/** Return a name of the API as JavaScript writes it: `include[]` is `include`, `page_size` is `pageSize`. */
const camelCase = (name) => name.replace("[]", "").replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());

/** Return the module with what the client knows of each route at run time. */
export function routesFile(found) {
  return [
    "// What the client knows of the routes of the API at run time.",
    '/** @import { Route } from "../internal.js" */',
    "/** The routes by their names. @type {Record<string, Route>} */",
    "export const ROUTES = {",
    ...Object.entries(found).map(
      ([name, one]) => `  ${name}: ${JSON.stringify({ ...one, types: undefined, summary: undefined })},`,
    ),
    "};",
  ];
}

/** Return the declarations of the routes. `records` are the names of the objects of the API. */
export function apiFile(found, records) {
  const options = Object.entries(found).flatMap(([name, one]) => optionsOf(name, one));
  const methods = Object.entries(found).flatMap(([name, one]) => declaration(name, one));
  const words = new Set([...options, ...methods].join("\n").match(/\w+/g));
  return [
    "// The types of the routes of the API.",
    `import type { ${records.filter((name) => words.has(name)).join(", ")} } from "./records.cjs";`,
    ...options,
    "/** A method for each route of the API. */",
    "export interface Api {",
    ...methods,
    "}",
  ];
}

const optionsName = (name) => `${name[0].toUpperCase()}${name.slice(1)}Options`;

/** Return the declaration of the options of a route, if it has any. */
function optionsOf(name, { path, hasKey, types }) {
  const options = [
    ...types.parameters,
    path.includes("{connectionId}") && { name: "connectionId", type: "string", note: "The client's by default." },
    hasKey && { name: "idempotencyKey", type: "string", note: "Names the cause. The default is random." },
  ].filter(Boolean);
  if (options.length === 0) return [];
  return [
    `export interface ${optionsName(name)} {`,
    ...options.flatMap((one) => [...(one.note ? [`  /** ${one.note} */`] : []), `  ${one.name}?: ${one.type};`]),
    "}",
  ];
}

function declaration(name, one) {
  const { method, path, ids, body, types, summary } = one;
  const given = [
    ...ids.map((id) => `${id}: string`),
    ...(body ? [`body${body === "optional" ? "?" : ""}: ${types.body}`] : []),
    ...(optionsOf(name, one).length > 0 ? [`options?: ${optionsName(name)}`] : []),
  ];
  return [`  /** ${method} ${path}: ${summary}. */`, `  ${name}(${given.join(", ")}): Promise<${types.result}>;`];
}
