import assert from "node:assert/strict";
import { test } from "node:test";

import { isHeld, NextSession } from "../../src/console/lib/next_session.js";
import { html } from "../../src/console/vendor/preact.js";
import { chance, textOf, times } from "./support.mjs";

const MINUTE = 60_000;
const MIDNIGHT = Date.parse("2026-03-14T00:00:00Z");

/** Returns a connection whose next session is so many minutes after midnight. */
const connection = (minutes, window, code, zone = "UTC") => ({
  next_session_at: new Date(MIDNIGHT + minutes * MINUTE).toISOString(),
  sync_window: window && { from: window[0], to: window[1], time_zone: zone },
  waiting_reason: code ? { code } : null,
});
const held = (now, ...of) => isHeld(connection(...of), MIDNIGHT + now * MINUTE);
const NIGHT = ["22:00", "23:00"];

test("outside the sync window no session is expected before its turn, whatever is the reason that is shown", () => {
  const noon = 12 * 60;
  for (const code of [undefined, "company_file_mismatch", "company_file_moved", "quickbooks_unreachable", "not_seen"]) {
    assert.equal(held(noon, 22 * 60 + 2, NIGHT, code), true, code);
    assert.equal(held(22 * 60 + 10, 22 * 60 + 11, NIGHT, code), false, code);
    // The window closes before the next call.
    assert.equal(held(22 * 60 + 58, 46 * 60 + 2, NIGHT, code), true, code);
    assert.equal(held(22 * 60 + 5, 46 * 60 + 10, NIGHT, code), true, code);
    assert.equal(held(noon, noon + 1, null, code), false, code);
  }
  assert.equal(held(22 * 60, 22 * 60 + 2, NIGHT, "outside_sync_window"), true);
  assert.equal(held(noon, noon + 30, null, "quickbooks_failing"), true);
});

test("a session is expected by a time only if the window is open until then", () => {
  const below = chance(41);
  const clock = (minutes) => [Math.floor(minutes / 60), minutes % 60].map((n) => String(n).padStart(2, "0")).join(":");
  for (const [zone, east] of [
    ["UTC", 0],
    ["Asia/Kolkata", 330],
    ["America/Phoenix", -420],
  ])
    for (let n = 0; n < 300; n += 1) {
      const from = below(1440);
      const length = 1 + below(1439);
      const now = below(1440);
      const next = now + below(n % 2 ? 1440 : 60);
      const isOpen = (minute) => (((minute + east - from) % 1440) + 1440) % 1440 < length;
      const isWhole = times(next - now + 1, (step) => now + step).every(isOpen);
      const window = [clock(from), clock((from + length) % 1440)];
      assert.equal(held(now, next, window, undefined, zone), !isWhole, `${window} ${zone}: ${now} to ${next}`);
    }
});

test("the next session is expected by a time, or not before it", () => {
  const says = (code) => textOf(html`<${NextSession} connection=${connection(722, null, code)} />`);
  assert.match(says(undefined), /^expected by /);
  assert.match(says("quickbooks_failing"), /^not before /);
});
