import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { clientCalls } from "../../src/console/lib/code_samples.js";
import { ROOT } from "../../src/console/lib/router.js";
import { calls, CONNECTION } from "./sample_bodies.mjs";

const BASE = `http://localhost${ROOT}`;
const MADE = await calls();

/** What each sample must send: its address, connection, body and key. JSON turns lone surrogates into escapes. */
const WANTED = MADE.map(({ body, key }) => JSON.stringify([BASE, CONNECTION, body, key ?? null]));

/** Compares the first difference only: all of them are a megabyte. */
function assertWanted(sent) {
  assert.equal(sent.length, WANTED.length);
  for (const [place, wanted] of WANTED.entries()) assert.equal(sent[place], wanted);
}

/** Runs a program of the system that reads all samples, and returns its output. */
function outputOf(program, args, input) {
  const { stdout, stderr } = spawnSync(program, args, { input, encoding: "utf8", maxBuffer: 100_000_000 });
  assert.equal(stderr, "");
  return stdout;
}

test("Compose builds samples of every request, in the short form, as nodes and as XML", () => {
  const forms = MADE.map(({ body }) => (body.request_xml ? "xml" : body.request_json.request ? "nodes" : "short"));
  for (const form of ["xml", "nodes", "short"]) assert.ok(forms.filter((one) => one === form).length > 50, form);
  assert.ok(MADE.some(({ body }) => Object.hasOwn(body.metadata ?? {}, "__proto__")));
});

test("a TypeScript sample sends what Compose queues", async () => {
  const AsyncFunction = (async () => {}).constructor;
  const sent = [];
  for (const { samples } of MADE) {
    const code = samples.typescript.replace(/^import .*$/m, "").replace("API_KEY!", "API_KEY");
    class Client {
      constructor(base, key, connection) {
        assert.equal(key, "sk_1");
        this.api = {
          async createQueuedRequest(body, options = {}) {
            sent.push(JSON.stringify([base, connection, body, options.idempotencyKey ?? null]));
            return { id: "1" };
          },
        };
      }
    }
    const run = new AsyncFunction("Client", "process", "console", code);
    await run(Client, { env: { API_KEY: "sk_1" } }, { log: () => {} });
  }
  assertWanted(sent);
});

test("a Python sample sends what Compose queues", () => {
  const reader = `
import ast, json, sys
for code in json.load(sys.stdin):
    calls = [one for one in ast.walk(ast.parse(code)) if isinstance(one, ast.Call)]
    client = next(one for one in calls if getattr(one.func, "id", "") == "Client")
    queue = next(one for one in calls if getattr(one.func, "attr", "") == "create_queued_request")
    base, _, connection = client.args
    keys = [ast.literal_eval(one.value) for one in queue.keywords if one.arg == "idempotency_key"]
    print(json.dumps([base.value, connection.value, ast.literal_eval(queue.args[0]), *(keys or [None])]))
`;
  const codes = JSON.stringify(MADE.map(({ samples }) => samples.python));

  const sent = outputOf("python3", ["-c", reader], codes).trimEnd().split("\n");

  assertWanted(sent.map((line) => JSON.stringify(JSON.parse(line))));
});

test("a sample of curl sends what Compose queues", () => {
  const stub = `curl() { for part; do printf '%s\\0' "$part"; done; printf '\\n\\0'; }\n`;
  const codes = stub + MADE.map(({ samples }) => samples.curl).join("");

  const runs = outputOf("sh", [], codes).split("\0\n\0").slice(0, -1);

  const sent = runs.map((run) => {
    const parts = run.split("\0");
    const key = parts.find((part) => part.startsWith("Idempotency-Key: "))?.slice("Idempotency-Key: ".length);
    const [, base, connection] = /^(.*)\/api\/v1\/connections\/(.*)\/queued_requests$/.exec(parts[2]);
    return JSON.stringify([base, connection, JSON.parse(parts.at(-1)), key ?? null]);
  });
  assertWanted(sent);
});

test("the API reference names a method of both clients for each operation", () => {
  const { paths } = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8"));
  const found = Object.entries(paths).flatMap(([path, item]) =>
    Object.values(item)
      .filter((operation) => operation.operationId)
      .map((operation) => clientCalls(path, operation)),
  );
  const python = found.map((one) => one.python);

  assert.ok(found.length > 50);
  assert.equal(new Set(python).size, found.length);
  assert.ok(python.includes("books.api.create_queued_request(body)"));
  assert.ok(python.includes("books.api.rename_api_key(key_id, body)"));
  assert.ok(found.some(({ typescript }) => typescript === "books.api.renameApiKey(keyId, body)"));
});
