// Batches: up to 25 requests that are queued in one call, all or none.
import { EntryReference, toJson } from "./json.js";
import { WAIT_SECONDS, checkOptions, checkedSeconds } from "./options.js";
import { STEPS, addLazily, stepsOf } from "./resources.js";
import { resultOf } from "./results.js";
import { KINDS } from "./schema/kinds.js";

/** @import { AddOptions, BatchOptions, ContinueOptions, QueueOptions } from "./calls.cjs" */
/** @import { BatchClient, Kind } from "./internal.js" */
/** @import { QueuedRequest } from "./schema/records.cjs" */

// How much of the idempotency key is in the names of a batch. A name has at most 50 characters.
const KEY_CHARACTERS = 38;

/** A request of a batch. */
class Entry {
  #batch;
  #name;
  #body;
  /** @type {QueuedRequest | undefined} */
  #record;

  /** @param {Batch} batch @param {string} name @param {Record<string, unknown>} body */
  constructor(batch, name, body) {
    this.#batch = batch;
    this.#name = name;
    this.#body = body;
  }

  get record() {
    if (!this.#record) throw new Error("The batch has not been queued.");
    return this.#record;
  }

  get result() {
    return resultOf(this.record);
  }

  get body() {
    return this.#body;
  }

  /** @param {string} path */
  ref(path) {
    return new EntryReference(this, path);
  }

  /** Return a value of the object that the request returns, such as its ListID. @param {string} member */
  value(member) {
    const [name] = /** @type {[string]} */ (
      Object.keys(/** @type {object} */ (this.#body.request_json)).filter((one) => one !== "version")
    );
    return this.ref(`${name.replace(/(Add|Mod)Rq$/, "")}Ret/${member}`);
  }

  /**
   * Return what identifies this request in a batch: its name in its own, its id in a later one.
   * @param {Batch | undefined} batch @returns {string}
   */
  nameIn(batch) {
    if (this.#record) return this.#record.id;
    if (batch !== this.#batch) {
      throw new TypeError(
        "The entry is of another batch, which is not queued. Queue that batch first, or add both to one.",
      );
    }
    this.#body.ref = this.#name;
    return this.#name;
  }

  /** @param {QueuedRequest} record */
  update(record) {
    this.#record = record;
  }
}
export class Batch {
  #client;
  #key;
  #options;
  #isQueued = false;
  /** @type {Entry[]} */
  #entries = [];

  static {
    const names = Object.keys(KINDS).filter((name) => KINDS[name]?.methods.some((one) => STEPS.includes(one)));
    addLazily(this.prototype, names, (batch, name) => stepsOf(/** @type {Kind} */ (KINDS[name]), batch));
  }

  /** @param {BatchClient} client @param {string} key @param {BatchOptions} options */
  constructor(client, key, { priority, approval }) {
    this.#client = client;
    this.#key = key;
    this.#options = { priority, approval };
  }

  /** @param {object} request @param {AddOptions} [options] @returns {any} */
  add(request, options = {}) {
    if (this.#isQueued) throw new Error("The batch has been queued. Add the request to another batch.");
    checkOptions("add", options);
    const body = bodyOf(request, options, this);
    const dependencies = /** @type {Entry[]} */ (/** @type {unknown} */ (options.dependsOn ?? []));
    if (dependencies.length > 0) body.depends_on = dependencies.map((entry) => entry.nameIn(this));
    // The same batch has the same names in every process, because a repeated call must have the same body.
    const name = `request-${this.#entries.length + 1}:${this.#key.slice(-KEY_CHARACTERS)}`;
    const entry = new Entry(this, name, body);
    this.#entries.push(entry);
    return entry;
  }

  get entries() {
    return [...this.#entries];
  }

  get isQueued() {
    return this.#isQueued;
  }

  /** @param {QueueOptions} [options] */
  async queue(options = {}) {
    const body = { requests: this.#entries.map((entry) => entry.body), ...this.#options };
    const records = await this.#client.queueBatch(body, this.#key, options);
    this.#isQueued = true;
    this.#entries.forEach((entry, index) => entry.update(/** @type {QueuedRequest} */ (records[index])));
  }

  async execute(timeout = WAIT_SECONDS) {
    const deadline = this.#client.now() + checkedSeconds(timeout);
    if (!this.#isQueued) await this.queue();
    for (const entry of this.#entries) {
      entry.update(await this.#client.wait(entry.record.id, deadline - this.#client.now()));
    }
    for (const entry of this.#entries) resultOf(entry.record);
  }
}

/**
 * Return a request as the API expects it, with its references. The continuation of a batch may have none.
 * @param {object | undefined} request @param {QueueOptions | AddOptions | ContinueOptions} options @param {Batch} [batch]
 */
export function bodyOf(request, options, batch) {
  /** @type {Record<string, unknown>} */
  const body = {};
  if (request !== undefined) {
    const tree = toJson(request, batch);
    body.request_json = options.version ? { version: options.version, ...tree } : tree;
  }
  if (options.webhookUrl !== undefined) body.webhook_url = options.webhookUrl;
  if (options.label !== undefined) body.label = options.label;
  if (options.metadata !== undefined) body.metadata = options.metadata;
  if (options.sendBy !== undefined) body.send_by = options.sendBy;
  if (options.ifExists !== undefined) body.if_exists = options.ifExists;
  if (options.sendWithin !== undefined) body.send_within = options.sendWithin;
  if ("iterate" in options && options.iterate !== undefined) body.iterate = options.iterate;
  if ("replaces" in options && options.replaces !== undefined) body.replaces = options.replaces;
  if ("priority" in options && options.priority !== undefined) body.priority = options.priority;
  if ("approval" in options && options.approval !== undefined) body.approval = options.approval;
  if ("requestId" in options && options.requestId !== undefined) body.request_id = options.requestId;
  return body;
}
