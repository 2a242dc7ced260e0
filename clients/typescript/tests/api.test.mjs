// Each route of the API has a method of `books.api`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Client } from "../src/index.js";
import { ROUTES } from "../src/schema/routes.js";
import { CONNECTION, OPENAPI, operationOf } from "./service.mjs";

const OTHER = "22222222-2222-4222-8222-222222222222";
const camelCase = (name) => name.replace("[]", "").replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
const OPERATIONS = Object.entries(OPENAPI.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, operation]) => operation.operationId)
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation, id: operation.operationId })),
);

/** Return the API of a client, and its calls. Each is answered with its number. */
function recorded() {
  const calls = [];
  const fetch = async (url, { method, headers, body }) => {
    calls.push({ method, url: new URL(url), headers, body });
    const isEmpty = method === "DELETE" && !url.toString().includes("/api_keys/"); // a key that is revoked is returned
    return isEmpty ? new Response(null, { status: 204 }) : Response.json({ data: calls.length });
  };
  const { api } = new Client("https://queue.example", "sk_test", CONNECTION, { fetch, newKey: () => "key-1" });
  return { api, calls };
}

/** Return a value of a schema. */
function valueOf(schema) {
  if (schema.enum) return schema.enum[0];
  if ("const" in schema) return schema.const;
  if (schema.type === "array") return [valueOf(schema.items), valueOf(schema.items)];
  return { integer: 3, boolean: true, string: "text" }[schema.type];
}

/** Return whether a response has nothing but `data`, which a method then returns. */
function hasOnlyData({ responses }) {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith("2"));
  const name = answer.content["application/json"].schema.$ref.split("/").at(-1);
  return Object.keys(OPENAPI.components.schemas[name].properties).join() === "data";
}

test("every route of the document has a method and its type", () => {
  const types = readFileSync(new URL("../src/schema/api.d.cts", import.meta.url), "utf8");
  const expected = OPERATIONS.map(({ id }) => camelCase(id)).sort();

  assert.deepEqual(Object.keys(ROUTES), expected);
  assert.deepEqual(Object.keys(recorded().api), expected);
  assert.deepEqual([...types.matchAll(/^ {2}(\w+)\(.*\): Promise<.+>;$/gm)].map(([, name]) => name).sort(), expected);
});

for (const { method, path, operation, id } of OPERATIONS) {
  test(`a method makes the call of its route: ${id}`, async () => {
    const { api, calls } = recorded();
    const given = operation.parameters ?? [];
    const query = given.filter((one) => one.in === "query");
    const options = Object.fromEntries(query.map(({ name, schema }) => [camelCase(name), valueOf(schema)]));
    const names = given.filter((one) => one.in === "path" && one.name !== "connection_id").map(({ name }) => name);
    const ids = names.map((_, number) => `id-${number}`);
    const body = operation.requestBody ? [{ a: 1 }] : [];

    const answer = await api[camelCase(id)](...ids, ...body, options);

    const [call] = calls;
    assert.equal(call.method, method);
    assert.equal(operationOf(call.method, call.url), id);
    const places = { connection_id: CONNECTION, ...Object.fromEntries(names.map((name, index) => [name, ids[index]])) };
    assert.equal(
      call.url.pathname,
      path.replaceAll(/\{(\w+)\}/g, (_, name) => places[name]),
    );
    assert.deepEqual(
      [...new Set(call.url.searchParams.keys())],
      query.map(({ name }) => name),
    );
    assert.equal(call.body, body[0] && JSON.stringify(body[0]));
    assert.equal(
      "Idempotency-Key" in call.headers,
      given.some(({ name }) => name === "Idempotency-Key"),
    );
    assert.deepEqual(answer, operation.responses["204"] ? undefined : hasOnlyData(operation) ? 1 : { data: 1 });
    if (path.includes("{connection_id}")) {
      await api[camelCase(id)](...ids, ...body, { connectionId: OTHER });
      assert.ok(calls[1].url.pathname.includes(OTHER));
    }
  });
}

test("parameters have the form of the API", async () => {
  const { api, calls } = recorded();

  await api.listQueuedRequests({ ids: ["a", "b"], bodies: false, page: 2, state: undefined });
  await api.queryCustomers({ include: ["Name", "Email"], idempotencyKey: "key" });

  assert.deepEqual(Object.fromEntries(calls[0].url.searchParams), { ids: "a,b", bodies: "false", page: "2" });
  assert.deepEqual(calls[1].url.searchParams.getAll("include[]"), ["Name", "Email"]);
  assert.equal(calls[1].headers["Idempotency-Key"], "key");
});

test("a body that the API does not need can be left out", async () => {
  const { api, calls } = recorded();

  await api.advanceSimulator();

  assert.equal(calls[0].body, undefined);
});

const WRONG = {
  "no id": [(api) => api.discardQueuedRequest(), /undefined is not an id/],
  "an argument that it does not take": [(api) => api.getContact("x"), /options of getContact must be an object/],
  "too many arguments": [(api) => api.getContact({}, "x"), /getContact takes options/],
  "a misspelt parameter": [
    (api) => api.discardQueuedRequest("x", { dependant: true }),
    /does not have an option dependant. Did you mean dependants\?/,
  ],
  "a connection where there is none": [(api) => api.getContact({ connectionId: "x" }), /It has none/],
  "an id that leads elsewhere": [(api) => api.discardQueuedRequest("x/../y"), /is not an id/],
  "a missing body": [(api) => api.testWebhook(), /testWebhook needs a body/],
};

for (const [what, [use, message]] of Object.entries(WRONG)) {
  test(`it is refused without a call: ${what}`, async () => {
    const { api, calls } = recorded();

    await assert.rejects(use(api), { name: "TypeError", message });
    assert.deepEqual(calls, []);
  });
}
