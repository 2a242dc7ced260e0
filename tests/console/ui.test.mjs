import assert from "node:assert/strict";
import { test } from "node:test";

import { html } from "../../src/console/vendor/preact.js";
import { Subject } from "../../src/console/lib/ui.js";
import { chance, textOf, times } from "./support.mjs";

const subjectOf = (subject, name) => textOf(html`<${Subject} subject=${subject} name=${name} />`).trim();

test("every part of a subject is shown, whether it looks like an ID or not", () => {
  const below = chance(31);
  const parts = [
    () => `8000000${below(10)}-170000000${below(10)}`,
    () => `ABC${below(10)}-170000000${below(10)}`,
    () => `${below(10)}-12345678${below(10)}`, // a number of a person
    () => `Kristy ${below(100)}`,
    () => `${below(1_000)}.50`,
    () => "Invoice",
  ];
  for (let n = 0; n < 300; n += 1) {
    const subject = times(1 + below(3), () => parts[below(parts.length)]()).join(" · ");
    const left = subject.split(" · ").reduce(
      (rest, part) => {
        assert.ok(rest.includes(part), `${part} of ${subject}`);
        return rest.replace(part, "");
      },
      subjectOf(subject, "Zoe"),
    );
    const isAnId = /^[0-9A-F]{1,8}-\d{9,10}$/.test(subject);
    assert.equal(left.replaceAll("·", "").trim(), isAnId ? "Zoe" : "", subject);
  }
});

test("an ID stands behind the text", () => {
  assert.equal(subjectOf("1A2B-1700000000 · 248.50"), "248.50 1A2B-1700000000");
  assert.equal(subjectOf("80000001-1700000000 · ABC-1700000001"), "80000001-1700000000 ABC-1700000001");
  assert.equal(subjectOf("80000001-1700000000", "Zoe"), "Zoe 80000001-1700000000");
  for (const none of [null, undefined, ""]) assert.equal(subjectOf(none), "");
});
