import assert from "node:assert/strict";
import { test } from "node:test";

import { codeSamples } from "../../src/console/lib/code_samples.js";
import { againAction, contentOf } from "../../src/console/lib/queue_again.js";
import { namesIn, requestNames, requestType } from "../../src/console/lib/schema.js";
import { wholeQuery } from "../../src/console/lib/whole_query.js";
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

test("the query for all objects is in pages where QuickBooks has them, and keeps what a copy keeps", async () => {
  signInWith("read", "queue", "administer");
  const kept = { webhook_url: "https://example.com/hooks", label: "nightly", metadata: { order: "7" } };
  let withoutPages = 0;
  for (const name of (await requestNames()).filter((one) => one.endsWith("QueryRq"))) {
    const type = await requestType(name);
    if (!namesIn(type.content).includes("MaxReturned")) continue;
    for (const [maximum, size] of [
      ["1", "100"],
      ["2000", "2000"],
    ]) {
      const others = [{ name: "ActiveStatus", text: "All" }];
      const request = {
        name,
        attributes: { request_id: "mine", metaData: "MetaDataAndResponseData" },
        children: [{ name: "MaxReturned", text: maximum }, ...others],
      };
      const queried = { ...record(kept.webhook_url), ...kept, state: "response_received", priority: "low" };

      const body = await wholeQuery({ ...queried, request_json: { version: "16.0", request } });

      const { request: whole, version } = body.request_json;
      const isPaged = "iterator" in type.attributes;
      withoutPages += !isPaged;
      assert.deepEqual(whole.children, [...(isPaged ? [{ name: "MaxReturned", text: size }] : []), ...others], name);
      const { request_id: id, iterator, ...attributes } = whole.attributes;
      assert.deepEqual([id, iterator, version], [undefined, isPaged ? "Start" : undefined, "16.0"]);
      assert.deepEqual(attributes, { metaData: "MetaDataAndResponseData" });
      assert.deepEqual(
        { ...body, request_json: null },
        { ...kept, ...(isPaged ? {} : { priority: "low" }), request_json: null, request_xml: undefined },
      );
    }
  }
  assert.ok(withoutPages > 20);
});
