import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";

import { RenewedToken } from "../../src/console/lib/token.js";
import { chance, times } from "./support.mjs";

const SECONDS = 1000;
const MINUTE = 60 * SECONDS;
const LIFETIME = 10 * MINUTE;
const RUNS = 300;
const STEPS = 120;

/** A service whose answers come in an order that chance decides, while tokens end and renewals fail. */
class Service {
  constructor(seed, { failures }) {
    this.below = chance(seed);
    this.failures = failures;
    this.now = 0;
    this.valid = new Map();
    this.answers = [];
    this.renewals = 0;
    this.mostRenewals = 0;
    this.needlessRenewals = 0;
    this.calls = [];
    this.token = new RenewedToken(
      () => this.renew(),
      () => this.now,
    );
  }

  later(answer) {
    return new Promise((resolve, reject) => this.answers.push(() => answer(resolve, reject)));
  }

  accepts(text) {
    return this.valid.get(text) > this.now;
  }

  renew() {
    this.renewals += 1;
    this.mostRenewals = Math.max(this.mostRenewals, this.renewals);
    const { current } = this.token;
    if (current && this.accepts(current.text) && current.endsAt > this.now + MINUTE) this.needlessRenewals += 1;
    const asked = this.now;
    return this.later((resolve, reject) => {
      this.renewals -= 1;
      if (this.failures && !this.below(4)) {
        for (const call of this.calls) call.troubles += 2;
        return reject(Object.assign(new Error("renewal"), { status: this.below(2) * 401 }));
      }
      const text = `st_${this.valid.size}`;
      this.valid.set(text, this.now + LIFETIME);
      return resolve({ text, endsAt: asked + LIFETIME });
    });
  }

  call() {
    // The token that is known may have ended before.
    const { current } = this.token;
    const call = { executed: 0, troubles: Number(current !== null && !this.accepts(current.text)), refusals: 0 };
    this.calls.push(call);
    const send = (text) =>
      this.later((resolve, reject) => {
        if (!this.accepts(text)) {
          call.refusals += 1;
          return reject(Object.assign(new Error("refused"), { status: 401 }));
        }
        call.executed += 1;
        if (this.below(12)) return resolve(text);
        call.troubles += 2;
        return reject(Object.assign(new Error("answer lost"), { status: 0 }));
      });
    call.result = this.token.use(send).then(
      () => (call.state = "answered"),
      (error) => (call.state = error.message),
    );
  }

  /** The service revokes all tokens. */
  revoke() {
    this.note([...this.valid.keys()].filter((text) => this.accepts(text)).length);
    this.valid.forEach((_, text) => this.valid.set(text, 0));
  }

  pass(milliseconds) {
    const before = this.now;
    this.now += milliseconds;
    this.note([...this.valid.values()].filter((at) => at > before && at <= this.now).length);
  }

  /** Notes for the calls that run that tokens have ended. */
  note(ended) {
    for (const call of this.calls) if (!call.state) call.troubles += ended;
  }

  async answerOne() {
    const [answer] = this.answers.splice(this.below(this.answers.length), 1);
    answer();
    await setImmediate();
  }

  async run() {
    for (let step = 0; step < STEPS; step += 1) {
      const choice = this.below(12);
      if (choice < 4) this.call();
      else if (choice < 9 && this.answers.length) await this.answerOne();
      else if (choice < 11) this.pass(this.below(400) * SECONDS);
      else this.revoke();
    }
    await setImmediate();
    while (this.answers.length) await this.answerOne();
    await Promise.all(this.calls.map(({ result }) => result));
  }
}

test("whatever ends and fails, one renewal that is needed is in flight, and no call is executed twice", async () => {
  for (const seed of times(RUNS, (n) => n)) {
    const service = new Service(seed, { failures: seed % 2 });
    await service.run();

    assert.deepEqual([service.mostRenewals, service.needlessRenewals], [1, 0], `seed ${seed}`);
    for (const { executed, refusals, state } of service.calls) {
      assert.ok(executed <= 1, `seed ${seed}: executed ${executed} times`);
      assert.ok(refusals <= 2, `seed ${seed}: refused ${refusals} times`);
      if (state === "answered") assert.equal(executed, 1);
      if (state === "refused") assert.equal(executed, 0);
    }
  }
});

test("a call is lost only if a renewal or its own answer failed, or if two tokens ended while it ran", async () => {
  let repeated = 0;
  for (const seed of times(RUNS, (n) => n)) {
    const service = new Service(seed, { failures: seed % 2 });
    await service.run();

    for (const { executed, refusals, troubles, state } of service.calls) {
      if (troubles < 2) assert.equal(`${state} ${executed}`, "answered 1", `seed ${seed}`);
      if (state === "answered" && refusals) repeated += 1;
    }
  }
  assert.ok(repeated > 100, `${repeated} calls succeeded after a refusal`);
});

test("a token that ends soon is renewed before a call, and one that does not is used again", async () => {
  let now = 0;
  let asked = 0;
  const token = new RenewedToken(
    async () => ({ text: `st_${(asked += 1)}`, endsAt: now + LIFETIME }),
    () => now,
  );
  const used = [];
  for (const at of [0, 1, 569, 571, 1140, 1141, 5000]) {
    now = at * SECONDS;
    await token.use(async (text) => used.push(text));
  }

  assert.deepEqual(used, ["st_1", "st_1", "st_1", "st_2", "st_2", "st_3", "st_4"]);
});

test("after it was forgotten, a renewal in flight brings nobody a token", async () => {
  let answer;
  const token = new RenewedToken(() => new Promise((resolve) => (answer = resolve)));
  const sent = [];
  const call = token.use(async (text) => sent.push(text));
  token.forget();
  answer({ text: "st_1", endsAt: Date.now() + LIFETIME });

  await assert.rejects(call, { status: 401 });
  assert.equal(token.current, null);
  assert.deepEqual(sent, []);
});
