// The webhook handler, with Express on a loopback server.
import assert from "node:assert/strict";
import { createHmac, randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { webhook } from "../src/express.js";

const TOOLS = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", ".tools", "clients", "package.json");
const load = createRequire(TOOLS);
const skip = existsSync(join(dirname(TOOLS), "node_modules", "express"))
  ? false
  : "needs Express: make test-clients installs it";
const express = skip ? undefined : load("express");

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${"A".repeat(32)}`;
const EVENT = {
  type: "queued_request.completed",
  request_json: { version: "13.0", request: { name: "CustomerQueryRq" } },
  result: { CustomerRet: [{ Name: "Ädä 😀" }] },
};
const BODY = Buffer.from(JSON.stringify(EVENT));
const URL_PATH = "/webhooks/quickbooks";

function signed(body, { secrets = [SECRET], age = 0, id = "msg_1" } = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) - age);
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
  });
  return { "Webhook-Id": id, "WEBHOOK-TIMESTAMP": timestamp, "webhook-signature": signatures.join(" ") };
}

/** Serve an app and give a function that sends a call to it. The reasons of refusals are kept, not printed. */
async function serving(app, use) {
  const [warn, warnings] = [console.warn, []];
  console.warn = (text) => warnings.push(text);
  app.use((error, request, response, next) => (response.headersSent ? next(error) : response.sendStatus(500)));
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const send = (headers, body, options) =>
    fetch(`http://127.0.0.1:${port}${URL_PATH}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
      ...options,
    });
  try {
    return await use({ send, port, warnings });
  } finally {
    console.warn = warn;
    server.closeAllConnections();
    server.close();
  }
}

/** An app with the handler, and what the user's function was given. */
function shop(secret = SECRET, options = undefined, handle = undefined) {
  const received = [];
  const app = express();
  const store = (event, id) => {
    received.push([event, id]);
    return handle?.(event, id);
  };
  app.post(URL_PATH, webhook(secret, store, options));
  return { app, received };
}

/** A body that is sent in two chunks, or in one if the first would be empty. */
const inChunks = (body, at) =>
  ReadableStream.from([body.subarray(0, at), body.subarray(at)].filter((part) => part.length));

test("generated events arrive as they were sent, in one piece and in chunks", { skip }, async () => {
  const { app, received } = shop();
  await serving(app, async ({ send }) => {
    for (let number = 0; number < 30; number++) {
      const text = Array.from({ length: 50 }, () =>
        String.fromCodePoint([0, 0xa0, 0x4e00, 0x1f600][randomInt(4)] + randomInt(64)),
      ).join("");
      const event = { ...EVENT, result: { CustomerRet: [{ Name: text }] } };
      const body = Buffer.from(JSON.stringify(event, null, number % 3));
      const sent = number % 2 ? body : inChunks(body, randomInt(body.length));
      const headers = signed(body, { id: `id-${number}` });
      const response = await send(headers, sent, { duplex: "half" });

      assert.equal(response.status, 204);
      assert.deepEqual(received.at(-1), [event, `id-${number}`]);
    }
  });
});

test("a call is refused without a reason, and the log has it", { skip }, async () => {
  const { app, received } = shop();
  await serving(app, async ({ send, warnings }) => {
    const headers = signed(BODY);
    const calls = [
      [{}, BODY],
      [signed(BODY, { age: 301 }), BODY],
      [signed(BODY, { age: -400 }), BODY],
      [signed(BODY, { secrets: [OTHER] }), BODY],
      [{ ...headers, "Webhook-Id": "msg_2" }, BODY],
      [{ ...headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") }, BODY],
      [signed(Buffer.from("[]")), "[]"],
      ...Array.from({ length: 30 }, () => {
        const body = Buffer.from(BODY);
        body[randomInt(body.length)] ^= randomInt(1, 256);
        return [headers, body];
      }),
    ];
    const texts = new Set();
    for (const [given, body] of calls) {
      const response = await send(given, body);
      texts.add(`${response.status} ${await response.text()}`);
    }

    assert.deepEqual([...texts], ["401 The signature of the webhook is not valid."]);
    assert.equal(warnings.length, calls.length);
    assert.match(warnings[0], /^A webhook was refused: The webhook has no time/);
    assert.deepEqual(received, []);
  });
});

test("during a rotation the old and the new secret work", { skip }, async () => {
  for (const secret of [SECRET, OTHER]) {
    await serving(shop(secret).app, async ({ send }) => {
      assert.equal((await send(signed(BODY, { secrets: [OTHER, SECRET] }), BODY)).status, 204);
    });
  }
});

test("nothing is confirmed before the function has ended", { skip }, async () => {
  const failures = [
    () => {
      throw new Error("The database is away.");
    },
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Error("The database is away.");
    },
  ];
  for (const fail of failures) {
    const { app, received } = shop(SECRET, undefined, fail);
    await serving(app, async ({ send }) => {
      assert.equal((await send(signed(BODY), BODY)).status, 500);
      assert.equal(received.length, 1);
    });
  }
});

test("an error of the function is 500, whatever status it has, so that the event comes again", { skip }, async () => {
  const app = express();
  const fails = () => {
    throw Object.assign(new Error("The request was deleted."), { status: 410 });
  };
  app.post(URL_PATH, webhook(SECRET, fails));
  app.use((error, request, response, next) => (error ? response.sendStatus(error.status ?? 500) : next()));

  await serving(app, async ({ send }) => {
    assert.equal((await send(signed(BODY), BODY)).status, 500);
  });
});

test("a body has a bound to the byte, in one piece and in chunks", { skip }, async () => {
  for (const [maxBytes, status] of [
    [BODY.length - 1, 413],
    [BODY.length, 204],
  ]) {
    const { app, received } = shop(SECRET, { maxBytes });
    await serving(app, async ({ send }) => {
      for (const body of [BODY, inChunks(BODY, 9)]) {
        assert.equal((await send(signed(BODY), body, { duplex: "half" })).status, status);
      }
      assert.equal(received.length, status === 204 ? 2 : 0);
    });
  }
});

test("the largest event is accepted, and a client with a larger body gets its answer", { skip }, async () => {
  const largest = Buffer.concat([BODY, Buffer.alloc(8 * 1024 * 1024 - BODY.length, " ")]);
  const larger = Buffer.concat([largest, largest]);
  await serving(shop().app, async ({ send }) => {
    assert.equal((await send(signed(largest), largest)).status, 204);
    assert.equal((await send(signed(larger), larger)).status, 413);
  });
});

test("a body that express.raw has read is used, and one that express.json has read is an error", { skip }, async () => {
  for (const [parser, status] of [
    [express?.raw({ type: "application/json" }), 204],
    [express?.json(), 500],
    [express?.text({ type: "application/json" }), 500],
  ]) {
    const app = express();
    app.use(parser);
    app.post(
      URL_PATH,
      webhook(SECRET, () => {}),
    );
    await serving(app, async ({ send }) => assert.equal((await send(signed(BODY), BODY)).status, status));
  }
});

test("a client that goes away in the middle of a body changes nothing", { skip }, async () => {
  const { app, received } = shop();
  let failed;
  const ended = new Promise((resolve) => (failed = resolve));
  app.use((error, request, response, next) => {
    failed(error);
    next(error);
  });
  await serving(app, async ({ send, port }) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST ${URL_PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`, () => socket.destroy());
    assert.ok((await ended) instanceof Error);
    assert.equal((await send(signed(BODY), BODY)).status, 204);
    assert.equal(received.length, 1);
  });
});

test("a program without a secret does not start", () => {
  for (const secret of [undefined, "", "whsec_", "whsec_AA=="]) {
    assert.throws(() => webhook(secret, () => {}), /at least 24 bytes/);
  }
});
