import assert from "node:assert/strict";
import { test } from "node:test";

import { codeSamples } from "../../src/console/lib/code_samples.js";
import { againAction, contentOf } from "../../src/console/lib/queue_again.js";
import { signInWith } from "./support.mjs";

const record = (webhook_url) => ({
  id: "7e2f0a54-6a0c-4f0e-9a7d-000000000001",
  connection_id: "c",
  state: "error",
  request_xml: "<HostQueryRq/>",
  request_json: { version: "16.0", request: { name: "HostQueryRq" } },
  webhook_url,
});

test("a copy never has the webhook URL of a record that its reader sees only in part", () => {
  for (const [permissions, own] of [
    [["queue", "administer"], "https://example.com/hooks/secret"],
    [["queue"], undefined],
  ]) {
    signInWith("read", ...permissions);
    assert.equal(contentOf(record("https://example.com/hooks/secret")).webhook_url, own);
    assert.equal(contentOf(record(null)).webhook_url, null);
  }
});

test("whoever may only propose gives no webhook URL", () => {
  signInWith("read", "propose");
  assert.equal("webhook_url" in contentOf(record("https://example.com")), false);
  assert.equal("webhook_url" in contentOf(record(null)), false);
});

test("a sample with a part of a webhook URL is refused by the service, so no other address gets the webhook", () => {
  signInWith("read", "queue");
  assert.match(codeSamples(record("https://example.com")).curl, /https:\/\/example\.com\/…/);
});

test("queueing again needs the permission of the call that does it", () => {
  const one = record(null);
  for (const [changes, action] of [
    [{}, "queue_again"],
    [{ batch_id: "b" }, "continue_batch"],
    [{ state: "response_received" }, "queue"],
    [{ executed: "unknown" }, "force"],
    [{ executed: "yes", batch_id: "b" }, "force"],
  ])
    assert.equal(againAction({ ...one, ...changes }), action);
});
