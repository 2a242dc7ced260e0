import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import * as drafts from "../../src/console/lib/drafts.js";
import { times } from "./support.mjs";

const key = (type, app = "app", from = "") => drafts.draftKey(app, { connection: "c", type, from });

beforeEach(() => {
  drafts.clearDrafts();
  mock.timers.reset();
  mock.timers.enable({ apis: ["Date"], now: 1_790_000_000_000 });
});

test("beyond the limits, the oldest drafts give way", () => {
  for (const n of times(25, (n) => n)) {
    mock.timers.tick(1000);
    assert.equal(drafts.writeDraft(key(`Type${n}`), { text: "x" }), true);
  }
  assert.deepEqual(
    drafts.draftsOf("app").map(({ type }) => type),
    times(20, (n) => `Type${24 - n}`),
  );

  assert.equal(drafts.writeDraft(key("Large"), { text: "x".repeat(1_999_800) }), true);
  const kept = drafts.draftsOf("app").map(({ type }) => type);
  assert.equal(kept.includes("Large") && kept.length < 20, true);

  assert.equal(drafts.writeDraft(key("TooLarge"), { text: "x".repeat(2_000_001) }), false);
  assert.equal(drafts.readDraft(key("TooLarge")), null);
  assert.deepEqual(
    drafts.draftsOf("app").map(({ type }) => type),
    kept,
  );
});

test("a draft is found by the name that an earlier console gave it, and one of an object is another one", () => {
  const former = "qbxml-queue.draft.app.c.InvoiceModRq.";
  drafts.writeDraft(former, { text: "former" });
  drafts.writeDraft(drafts.draftKey("app", { connection: "c", type: "InvoiceModRq", object: "29C-1" }), {
    text: "own",
  });
  const found = drafts.draftsOf("app").map((one) => [one.object, drafts.readDraft(drafts.draftKey("app", one)).text]);
  assert.deepEqual(found.sort(), [
    ["", "former"],
    ["29C-1", "own"],
  ]);
});

test("a draft that moves to another connection loses its key and its query, and replaces no draft", () => {
  drafts.writeDraft(key("A"), { text: "a", idempotencyKey: "k", unanswered: 1, reading: "1" });
  drafts.moveDraft(key("A"), key("B"));

  assert.equal(drafts.readDraft(key("A")), null);
  const { text, idempotencyKey, unanswered } = drafts.readDraft(key("B"));
  assert.deepEqual([text, idempotencyKey, unanswered], ["a", null, null]);
  assert.equal("reading" in drafts.readDraft(key("B")), false);

  drafts.writeDraft(key("A"), { text: "other" });
  drafts.moveDraft(key("A"), key("B"));
  assert.equal(drafts.readDraft(key("B")).text, "a");
});

test("a change of an object that was read stays with its connection", () => {
  for (const read of [{ base: {} }, { former: {} }]) {
    drafts.writeDraft(key("C"), { text: "c", ...read });
    drafts.moveDraft(key("C"), key("D"));

    assert.equal(drafts.readDraft(key("C")).text, "c");
    assert.equal(drafts.readDraft(key("D")), null);
  }
});

test("signing in with the key of an app removes the drafts of other apps", () => {
  drafts.writeDraft(key("A", "mine"), {});
  drafts.writeDraft(key("A", "theirs"), {});

  drafts.clearDrafts("mine");

  assert.equal(drafts.draftsOf("mine").length, 1);
  assert.equal(drafts.draftsOf("theirs").length, 0);
});
