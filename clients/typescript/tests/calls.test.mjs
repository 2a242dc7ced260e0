import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import {
  ApiError,
  Client,
  DependencyFailed,
  Discarded,
  OutcomeUnknown,
  QuickBooksError,
  ReadOnlyKey,
  RequestFailed,
  ResultUnavailable,
  StaleEditSequence,
  StillWaiting,
} from "../src/index.js";
import { Service } from "./service.mjs";

const ADD = { CustomerAddRq: { CustomerAdd: { Name: "Ada" } } };
const QUERY = { CustomerQueryRq: { MaxReturned: 5 } };
const QUEUE = "POST queued_requests";
const error = (code, details = {}) => ({ state: "error", error: { code, message: "No.", details } });

async function items(pages) {
  const found = [];
  for await (const page of pages) found.push(page);
  return found;
}

test("execute queues, polls and returns the result", async () => {
  const service = new Service();
  service.polls = 3;
  service.outcome = () => ({ result: { CustomerRet: [{ ListID: "1", Balance: "97.50", IsActive: true }] } });

  const result = await service.client().execute(QUERY);

  assert.deepEqual(result, { CustomerRet: [{ ListID: "1", Balance: "97.50", IsActive: true }] });
  assert.deepEqual(service.paths.slice(0, 2), ["GET api_key", QUEUE]);
  assert.equal(service.paths.length, 5);
});

test("a result without objects has an empty list", async () => {
  assert.deepEqual(await new Service().client().execute(QUERY), { CustomerRet: [] });
  assert.deepEqual((await new Service().client().execute({ ItemQueryRq: {} })).ItemServiceRet, []);
});

test("every call names the client and its version", async () => {
  const service = new Service();
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

  await service.client().execute(QUERY);

  const names = new Set(service.calls.map(({ headers }) => headers["User-Agent"]));
  assert.deepEqual([...names], [`qbxml-queue-javascript/${version}`]);
});

test("every create has an idempotency key", async () => {
  const service = new Service();
  const client = service.client();

  for (const key of [undefined, undefined, "customer-1", "customer-1"]) {
    await client.execute(ADD, { idempotencyKey: key });
  }

  assert.deepEqual([...service.keys.keys()], ["key-1", "key-2", "customer-1"]);
});

test("options reach the service", async () => {
  const service = new Service();

  await service.client().queue(ADD, {
    version: "14.0",
    webhookUrl: null,
    label: "Ada",
    metadata: { order: "7" },
    validate: false,
    transliterate: true,
  });

  const { url, body } = service.calls.at(-1);
  assert.deepEqual(Object.fromEntries(url.searchParams), { validate: "false", transliterate: "true" });
  assert.deepEqual(body, {
    request_json: { version: "14.0", ...ADD },
    webhook_url: null,
    label: "Ada",
    metadata: { order: "7" },
  });
});

for (const fault of [429, 500, 503, "lost"]) {
  test(`a write is repeated with the same key after ${fault}, and queued once`, async () => {
    const service = new Service();
    service.faults = [null, fault, fault];

    await service.client().execute(ADD);

    assert.equal(service.paths.filter((path) => path === QUEUE).length, 3);
    assert.equal(service.records.size, 1);
    assert.deepEqual(service.pauses.slice(0, 2), [0.5, 1]);
  });
}

test("Retry-After makes a pause longer", async () => {
  const service = new Service();
  service.faults = [429];
  service.retryAfter = "7";

  await service.client().execute(QUERY);

  assert.equal(service.pauses[0], 7);
});

for (const fault of [503, "lost"]) {
  test(`a call without a key is not repeated after ${fault}, because it may have been executed`, async () => {
    const service = new Service();
    service.pause_connection = () => ({});
    service.faults = [429, fault];

    await assert.rejects(service.client().call("POST", "/api/v1/connections/1/pause"));

    assert.equal(service.calls.length, 2);
  });
}

test("retries end", async () => {
  const service = new Service();
  service.faults = Array(100).fill(503);

  await assert.rejects(
    service.client().execute(QUERY),
    (thrown) => thrown instanceof ApiError && thrown.status === 503,
  );

  assert.equal(service.calls.length, 6);
});

test("a refused call is not repeated", async () => {
  const service = new Service();
  service.faults = [400];

  await assert.rejects(service.client().execute(QUERY), ApiError);

  assert.equal(service.calls.length, 1);
});

test("a read-only key fails before anything is queued", async () => {
  const service = new Service();
  service.scope = "read_only";
  const client = service.client();

  await assert.rejects(client.execute(ADD), ReadOnlyKey);
  await assert.rejects(client.execute(ADD), ReadOnlyKey);

  assert.deepEqual(service.paths, ["GET api_key"]);
});

for (const [ended, Kind] of [
  [error("quickbooks_error", { status_code: 3100, reason: "name_in_use", hint: "Query it." }), QuickBooksError],
  [error("quickbooks_error", { status_code: 3200 }), StaleEditSequence],
  [error("outcome_unknown"), OutcomeUnknown],
  [error("dependency_failed"), DependencyFailed],
  [error("quickbooks_connection_error"), RequestFailed],
  [{ state: "discarded" }, Discarded],
  [{ result: null }, ResultUnavailable],
]) {
  test(`a request that failed throws ${Kind.name}`, async () => {
    const service = new Service();
    service.outcome = () => ended;

    const thrown = await service
      .client()
      .execute(ADD)
      .catch((caught) => caught);

    assert.equal(thrown.constructor, Kind);
    assert.equal(thrown.name, Kind.name);
    assert.equal(thrown.statusCode, ended.error?.details.status_code);
    assert.equal(thrown.reason, ended.error?.details.reason);
  });
}

test("isRetryable is what the service says for every code", async () => {
  const service = new Service();
  const codes = [
    "quickbooks_error",
    "qbxml_parse_error",
    "quickbooks_connection_error",
    "outcome_unknown",
    "iteration_interrupted",
    "iteration_stopped",
    "response_too_large",
    "dependency_failed",
    "reference_unresolved",
    "reference_invalid",
  ];
  for (const code of codes) {
    for (const retryable of [true, false]) {
      service.outcome = () => error(code, { retryable, hint: "Do this." });
      const thrown = await service
        .client()
        .execute(ADD, { idempotencyKey: `${code} ${retryable}` })
        .catch((caught) => caught);
      assert.ok(thrown instanceof RequestFailed && thrown.message.endsWith("Do this."));
      assert.equal(thrown.isRetryable, retryable);
    }
  }
});

test("a request that still waits is not lost", async () => {
  const service = new Service();
  service.polls = 1000;
  const client = service.client();

  const thrown = await client.execute(ADD, { timeout: 60 }).catch((caught) => caught);
  service.records.get(thrown.record.id).left = 1;
  const record = await client.wait(thrown.record.id);

  assert.ok(thrown instanceof StillWaiting);
  assert.match(thrown.message, /is still waiting\. Waits for the next session\./);
  assert.equal(record.state, "response_received");
  assert.equal(service.records.size, 1);
  assert.ok(service.now >= 60 && service.now < 61);
});

for (const pages of [1, 2, 99, 100, 101, 250]) {
  test(`iterate yields ${pages} pages, each once and in order`, async () => {
    const service = new Service();
    service.pages = pages;
    service.outcome = (record) => ({ result: { CustomerRet: [{ ListID: String(record.page) }] } });

    const results = await items(
      service.client().iterate({ CustomerQueryRq: { ActiveStatus: "All" } }, { pageSize: 7 }),
    );

    const expected = Array.from({ length: pages }, (_, index) => String(index + 1));
    assert.deepEqual(
      results.map((result) => result.CustomerRet[0].ListID),
      expected,
    );
    assert.deepEqual(service.calls.find(({ method }) => method === "POST").body.request_json, {
      CustomerQueryRq: { "@iterator": "Start", MaxReturned: 7, ActiveStatus: "All" },
    });
  });
}

test("a page that fails throws its error after the pages before it", async () => {
  const service = new Service();
  service.pages = 3;
  service.outcome = ({ page }) => (page < 3 ? { result: {} } : error("iteration_interrupted"));
  const pages = service.client().iterate(QUERY);

  await pages.next();
  await pages.next();

  await assert.rejects(pages.next(), (thrown) => thrown.code === "iteration_interrupted");
});

test("calls that the service holds are made without pauses", async () => {
  const service = new Service();
  service.holds = true;
  service.polls = 4;

  await service.client().execute(ADD);

  const waits = service.calls.filter(({ method }) => method === "GET").map(({ url }) => url.searchParams.get("wait"));
  assert.deepEqual(waits, [null, "2", "20", "20", "20"]);
  assert.ok(
    service.calls.every(({ url }) => url.searchParams.has("wait") === (url.searchParams.get("wait_for") === "page")),
  );
  assert.deepEqual(service.pauses, []);
});

const METHODS = {
  execute: (client, options) => client.execute(ADD, options),
  queue: (client, options) => client.queue(ADD, options),
  iterate: (client, options) => client.iterate({ CustomerQueryRq: {} }, options),
  add: (client, options) => client.batch().add(ADD, options),
  events: (client, options) => client.events({}, options),
  call: (client, options) => client.call("POST", "/api/v1/contact", options),
};
const thrownBy = async (method, client, options) => {
  try {
    await METHODS[method](client, options);
  } catch (thrown) {
    return `${thrown.name}: ${thrown.message}`;
  }
  return "";
};

for (const method of Object.keys(METHODS)) {
  test(`${method} refuses an unknown option with the nearest name, and queues nothing`, async () => {
    const service = new Service();
    const names = {
      idempotency_key: "idempotencyKey",
      webhookurl: "webhookUrl",
      lable: "label",
      every_connection: "everyConnection",
    };
    for (const [name, meant] of [...Object.entries(names), ["colour", undefined]]) {
      const message = await thrownBy(method, service.client(), { [name]: "order-7" });

      assert.ok(message.startsWith(`TypeError: ${method} does not have an option ${name}. `), message);
      const known = await thrownBy(method, service.client(), { colour: "order-7" });
      assert.match(known, /It has \w+/);
      if (meant && known.includes(meant)) assert.ok(message.endsWith(`Did you mean ${meant}?`), message);
    }
    assert.match(await thrownBy(method, service.client(), null), /must be an object/);
    assert.deepEqual(service.calls, []);
  });
}

test("an option of another method, a timeout that is a text and a key that is not one are refused", async () => {
  const service = new Service();
  const client = service.client();

  await assert.rejects(client.queue(ADD, { timeout: 1 }), TypeError);
  await assert.rejects(client.execute(QUERY, { pageSize: 1 }), TypeError);
  assert.throws(() => client.iterate(QUERY, { pageSize: 7 }), /Give one of them/);
  assert.throws(() => client.iterate(QUERY, { timeout: "5" }), /must be a number/);
  await assert.rejects(client.execute(ADD, { timeout: "5" }), /must be a number/);
  await assert.rejects(client.batch().execute({ timeout: 5 }), /must be a number/);
  await assert.rejects(client.wait("1", { timeout: 5 }), /must be a number/);
  assert.throws(() => client.batch({ idempotencyKey: "order-7" }), /must be a text/);
  assert.throws(() => new Client("https://queue.example", "sk_test", "1", { fetsh: 1 }), /Did you mean fetch\?/);
  assert.deepEqual(service.calls, []);
});

for (const value of [true, false, "no", 0]) {
  test(`validate: ${value} reaches the service, which refuses what is not a boolean`, async () => {
    const service = new Service();

    await service.client().queue(ADD, { validate: value });

    assert.equal(service.calls.at(-1).url.searchParams.get("validate"), String(value));
  });
}

for (const pages of [1, 2, 101]) {
  test(`execute returns the objects of all ${pages} pages`, async () => {
    const service = new Service();
    service.pages = pages;
    service.outcome = (record) => ({ result: { CustomerRet: [{ ListID: String(record.page) }] } });

    const result = await service.client().execute({ CustomerQueryRq: { ActiveStatus: "All" } });

    const expected = Array.from({ length: pages }, (_, index) => String(index + 1));
    assert.deepEqual(
      result.CustomerRet.map(({ ListID }) => ListID),
      expected,
    );
  });
}

test("execute lets a query be sent in pages if it can be, and queue only when it is told", async () => {
  const service = new Service();
  const client = service.client();
  const sent = async (method, request, options) => {
    await client[method](request, options);
    return service.calls.findLast(({ method: verb }) => verb === "POST").body.iterate;
  };

  for (const [request, options, expected] of [
    [{ CustomerQueryRq: { ActiveStatus: "All" } }, {}, "auto"],
    [{ CustomerQueryRq: {} }, { version: "16.0" }, "auto"],
    [{ CustomerQueryRq: {} }, { version: "4.1" }, undefined],
    [{ CustomerQueryRq: {} }, { iterate: "never" }, "never"],
    [{ CustomerQueryRq: { MaxReturned: 5 } }, {}, undefined],
    [{ CustomerQueryRq: { FullName: ["Ada"] } }, {}, undefined],
    [{ InvoiceQueryRq: { TxnID: ["1"] } }, {}, undefined],
    [{ CustomerQueryRq: { "@iterator": "Start", MaxReturned: 5 } }, {}, undefined],
    [{ TermsQueryRq: {} }, {}, undefined],
    [ADD, {}, undefined],
  ])
    assert.equal(await sent("execute", request, options), expected);
  assert.equal(await sent("queue", { CustomerQueryRq: {} }), undefined);
  assert.equal(await sent("queue", { CustomerQueryRq: {} }, { iterate: "auto" }), "auto");
});

for (const timeout of [0.5, 1, 19.9, 20, 20.5, 47]) {
  test(`a call is not held for longer than a timeout of ${timeout} s`, async () => {
    const service = new Service();
    service.holds = true;
    service.polls = 1000;

    await assert.rejects(service.client().execute(ADD, { timeout }), StillWaiting);

    assert.ok(Math.abs(service.now - timeout) < 0.001);
  });
}

const HOSTILE = [
  "",
  ".",
  "..",
  "../events",
  "a/b",
  "/",
  "a?b=1",
  "a#b",
  "a\\b",
  "%2e%2e",
  "a%2fb",
  "a b",
  "a\n",
  "é",
  "@evil.example",
  "//evil.example",
  "https://evil.example/",
  "connections\0",
  "\ud800",
  "a:b",
];

for (const text of HOSTILE) {
  test(`${JSON.stringify(text)} does not leave its part of a path`, async () => {
    const service = new Service();
    const client = service.client();

    assert.throws(() => new Client("https://queue.example", "sk_test", text), /is not an id/);
    await assert.rejects(async () => client.record(text), /is not an id/);
    await assert.rejects(client.wait(text), /is not an id/);
    for (const path of [
      text,
      `/api/v1/queued_requests/../${text}`,
      `/api/v1/contact?${text}`,
      `@evil.example/${text}`,
    ]) {
      await assert.rejects(client.call("GET", path), /is not a path/);
    }
    assert.deepEqual(service.calls, []);
  });
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect with ${status} is an error, and another host gets nothing`, async (context) => {
    const calls = [];
    const serve = async (answer) => {
      const server = createServer((request, response) => {
        calls.push(request.url);
        answer(response);
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      context.after(() => server.close());
      return `http://127.0.0.1:${server.address().port}`;
    };
    const other = await serve((response) => response.end("{}"));
    const service = await serve((response) => response.writeHead(status, { Location: `${other}/stolen` }).end());
    const client = new Client(service, "sk_test", "1");

    const call = client.call("POST", "/api/v1/contact", { body: { name: "secret" }, idempotencyKey: "1" });

    await assert.rejects(call, ApiError);
    assert.deepEqual(calls, ["/api/v1/contact"]);
  });
}
