// A service in memory. It refuses every call that docs/openapi.json does not describe.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { Client } from "../src/index.js";

export const OPENAPI = JSON.parse(readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"));
export const CONNECTION = "11111111-1111-4111-8111-111111111111";

/** Return the operation of a call. It must be in the document, with all of its parameters. */
export function operationOf(method, url) {
  for (const [template, operations] of Object.entries(OPENAPI.paths)) {
    const pattern = new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const operation = operations[method.toLowerCase()];
    if (operation && pattern.test(url.pathname)) {
      const known = new Set((operation.parameters ?? []).map(({ name }) => name));
      for (const name of url.searchParams.keys()) assert.ok(known.has(name), `${name} of ${url}`);
      return operation.operationId;
    }
  }
  assert.fail(`${method} ${url.pathname} is not in docs/openapi.json`);
}

/**
 * Queues requests and ends each after `polls` polls as `outcome` says. A query has `pages` pages. `faults` are consumed
 * by the calls, in order: a status; "lost", an answer that is lost after the call was executed; or null.
 */
export class Service {
  scope = "full";
  polls = 1;
  holds = false;
  pages = 1;
  outcome = () => ({ result: {} });
  faults = [];
  retryAfter = undefined;
  calls = [];
  records = new Map();
  keys = new Map();
  batches = new Map();
  events = [];
  /** How many of the first events the feed has forgotten. */
  oldest = 0;
  now = 0;
  pauses = [];

  /** Return a client whose first key is key-1, with a clock that only pauses move. */
  client() {
    let number = 0;
    return new Client("https://queue.example/", "sk_test", CONNECTION, {
      fetch: (url, options) => this.fetch(new URL(url), options),
      sleep: async (seconds) => {
        this.pauses.push(seconds);
        this.now += seconds;
      },
      clock: () => this.now,
      newKey: () => `key-${++number}`,
      chance: () => 0.5,
    });
  }

  get paths() {
    return this.calls.map(({ method, url }) => `${method} ${url.pathname.split("/").at(-1)}`);
  }

  async fetch(url, { method, headers, body }) {
    assert.equal(headers.Authorization, `Basic ${btoa("sk_test:")}`);
    const operation = operationOf(method, url);
    this.calls.push({ method, url, headers, body: body && JSON.parse(body) });
    const fault = this.faults.shift() ?? null;
    if (typeof fault === "number") {
      const error = { code: fault === 429 ? "too_many_requests" : "unavailable", message: "No." };
      return Response.json(
        { error },
        { status: fault, headers: this.retryAfter ? { "Retry-After": this.retryAfter } : {} },
      );
    }
    const answer = this[operation](url, headers, body && JSON.parse(body));
    if (fault === "lost") throw new TypeError("fetch failed");
    return answer instanceof Response ? answer : Response.json(answer);
  }

  get_api_key() {
    return { data: { scope: this.scope } };
  }

  continue_batch() {
    return { data: [this.#add({ request_json: { CustomerAddRq: {} } })] };
  }

  settle_queued_request(url) {
    return { data: this.records.get(url.pathname.split("/").at(-2)) };
  }

  approve_queued_request(url) {
    return this.settle_queued_request(url);
  }

  reject_queued_request(url) {
    return this.settle_queued_request(url);
  }

  approve_queued_requests(url, headers, { requests }) {
    return { data: { decided: requests.length, refused: 0, requests: [] } };
  }

  approve_batch(...call) {
    return this.approve_queued_requests(...call);
  }

  reject_queued_requests(url, headers, { ids }) {
    return { data: { decided: ids?.length ?? 0, refused: 0, requests: [] } };
  }

  reject_batch(...call) {
    return this.reject_queued_requests(...call);
  }

  create_queued_request(url, headers, body) {
    const key = headers["Idempotency-Key"];
    if (!this.keys.has(key)) this.keys.set(key, this.#add(body).id);
    return { data: this.records.get(this.keys.get(key)) };
  }

  create_batch(url, headers, body) {
    const key = headers["Idempotency-Key"];
    if (!this.batches.has(key))
      this.batches.set(
        key,
        body.requests.map((request) => this.#add(request)),
      );
    return { data: this.batches.get(key) };
  }

  list_events(url) {
    const start = Number(url.searchParams.get("after") ?? this.oldest);
    if (start < this.oldest) {
      const error = { code: "cursor_expired", message: "No.", details: { oldest: String(this.oldest) } };
      return Response.json({ error }, { status: 410 });
    }
    const data = this.events.slice(start, start + 2);
    return { data, next: String(start + data.length), has_more: start + 2 < this.events.length };
  }

  #add(body) {
    const id = `00000000-0000-4000-8000-${String(this.records.size + 1).padStart(12, "0")}`;
    const [name] = Object.keys(body.request_json).filter((member) => member !== "version");
    const record = {
      id,
      query_id: id,
      page: 1,
      last_page: null,
      request_name: name,
      state: "waiting",
      error: null,
      left: this.polls,
      waiting_reason: { code: "next_session", message: "Waits for the next session.", hint: null },
      ...body,
    };
    this.records.set(id, record);
    return record;
  }

  get_queued_request(url) {
    const record = this.records.get(url.pathname.split("/").at(-1));
    if (this.holds && record.left > 1) this.now += Number(url.searchParams.get("wait") ?? 0);
    record.left -= 1;
    if (record.left === 0) {
      Object.assign(record, { state: "response_received", waiting_reason: null, result: null }, this.outcome(record));
      record.last_page = record.page >= this.pages || record.state === "error";
      if (!record.last_page) {
        const next = this.#add({ request_json: record.request_json });
        Object.assign(next, { query_id: record.query_id, page: record.page + 1 });
      }
    }
    return { data: record };
  }

  list_queued_requests(url) {
    const parameters = Object.fromEntries(url.searchParams);
    const found = [...this.records.values()].filter((record) => record.query_id === parameters.query_id);
    const [size, page] = [Number(parameters.page_size), Number(parameters.page)];
    return { data: found.slice((page - 1) * size, page * size) };
  }
}
