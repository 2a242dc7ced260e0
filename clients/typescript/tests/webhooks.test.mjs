import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import { InvalidSignature, verify } from "../src/index.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${"A".repeat(32)}`;
const NOW = 1614265330;
const BODY = JSON.stringify({
  type: "queued_request.completed",
  request_json: { version: "13.0", request: { name: "CustomerQueryRq" } },
  result: { CustomerRet: [{ Name: "Ädä" }] },
});

function signed(body, secret = SECRET, timestamp = String(NOW)) {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const digest = createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64");
  return { "Webhook-Id": "msg_1", "Webhook-Timestamp": timestamp, "Webhook-Signature": `v1,${digest}` };
}

test("a signed event is returned, from text, bytes and any kind of headers", async () => {
  for (const [headers, body] of [
    [signed(BODY), BODY],
    [new Headers(signed(BODY)), new TextEncoder().encode(BODY)],
    [signed(BODY), Buffer.from(BODY)],
  ]) {
    assert.equal((await verify(SECRET, headers, body, NOW)).result.CustomerRet[0].Name, "Ädä");
  }
});

test("one of several signatures is enough", async () => {
  const headers = signed(BODY);
  const both = `${signed(BODY, OTHER)["Webhook-Signature"]} ${headers["Webhook-Signature"]}`;

  await verify(SECRET, { ...headers, "Webhook-Signature": both }, BODY, NOW);
});

for (const [what, headers, body, now] of [
  ["another body", signed(BODY), `${BODY} `, NOW],
  ["another secret", signed(BODY, OTHER), BODY, NOW],
  ["an old event", signed(BODY), BODY, NOW + 301],
  ["an event of the future", signed(BODY), BODY, NOW - 301],
  ["no headers", {}, BODY, NOW],
  ["a signature that is not base64", { ...signed(BODY), "Webhook-Signature": "v1,é" }, BODY, NOW],
  [
    "a signature without a version",
    { ...signed(BODY), "Webhook-Signature": signed(BODY)["Webhook-Signature"].slice(3) },
    BODY,
    NOW,
  ],
  ["a time that is not a number", signed(BODY, SECRET, "now"), BODY, NOW],
]) {
  test(`${what} is refused`, async () => {
    await assert.rejects(verify(SECRET, headers, body, now), InvalidSignature);
  });
}

for (const secret of ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_é", `whsec_${"A".repeat(28)}`]) {
  test(`the secret "${secret}", which anybody could use, is refused`, async () => {
    await assert.rejects(verify(secret, signed(BODY), BODY, NOW), /at least 24 bytes/);
  });
}
