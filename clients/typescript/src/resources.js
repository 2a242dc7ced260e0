// Resources: the objects of QuickBooks by their names, such as `books.customers`. schema/resources.d.cts has them.
import { Ambiguous, ApiError, Conflict, NotFound, StaleEditSequence, StillQueued, StillWaiting } from "./errors.js";
import { inOrder, toJson } from "./json.js";
import { changedMeanwhile, lineIds, merged } from "./merging.js";
import { OPTIONS, PAGE_SIZE, WAIT_SECONDS, checkOptions, checkedSeconds } from "./options.js";
import { canBePaged } from "./queries.js";
import { resultOf } from "./results.js";

/** @import { Attempt, Kind, Service, Tree } from "./internal.js" */
/** @import { QueuedRequest } from "./schema/records.cjs" */

// How often a change is repeated after somebody else has changed the object.
const REPEATS = 3;
// The statuses of a call that the service has read and refused. After any other error the request may be in the queue,
// also after one that was not executed: the call before it may have been.
const REFUSED = new Set([400, 404, 409, 413, 422]);

/** What was begun by calls that ended before its end, by what the calls have in common. @template T */
class Begun {
  /** @type {Map<string, T[]>} */
  #all = new Map();

  /** Remove and return the oldest one of a call. @param {string} call @returns {T | undefined} */
  take(call) {
    const [first, ...others] = this.#all.get(call) ?? [];
    this.#set(call, others);
    return first;
  }

  /** @param {string} call @param {T} one */
  keep(call, one) {
    this.#set(call, [...(this.#all.get(call) ?? []), one]);
  }

  /** @param {string} call @param {T} one */
  remove(call, one) {
    this.#set(
      call,
      (this.#all.get(call) ?? []).filter((other) => other !== one),
    );
  }

  /** @param {string} call @param {T[]} all */
  #set(call, all) {
    if (all.length > 0) this.#all.set(call, all);
    else this.#all.delete(call);
  }
}

/** What the methods of a resource do. */
class Operations {
  #kind;
  #service;
  /** @type {Begun<Attempt>} */
  #writes = new Begun();
  /** @type {Begun<string>} */
  #reads = new Begun();

  /** @param {Kind} kind @param {Service} service */
  constructor(kind, service) {
    this.#kind = kind;
    this.#service = service;
  }

  /** @param {Tree} fields @param {Tree} [options] */
  async create(fields, options = {}) {
    checkOptions("create", options);
    return this.#add("create", fields, options);
  }

  /** @param {Tree} fields @param {Tree} [options] */
  async ensure(fields, options = {}) {
    checkOptions("ensure", options);
    return this.#add("ensure", fields, { ...options, ifExists: this.#kind.ifExists });
  }

  /** @param {string} method @param {Tree} fields @param {Tree} options */
  async #add(method, fields, options) {
    const record = await this.#written(method, toJson(addition(this.#kind, fields)), options);
    return { ...resultOf(record)[`${this.#kind.name}Ret`], "@outcome": record.outcome ?? "created" };
  }

  /** @param {string} id @param {Tree} [options] */
  async get(id, options = {}) {
    checkOptions("get", options);
    const [found] = await this.#found(this.#kind.key, id, options);
    if (!found) throw new NotFound(this.#kind.name, id);
    return found;
  }

  /** @param {string} sought @param {Tree} [options] */
  async find(sought, options = {}) {
    checkOptions("find", options);
    const found = await this.#found(/** @type {string} */ (this.#kind.sought), sought, options);
    if (found.length > 1) {
      const ids = found.map((one) => one[this.#kind.key]);
      throw new Ambiguous(this.#kind.name, sought, ids);
    }
    return found[0];
  }

  /** @param {Tree} [filters] @param {Tree} [options] */
  list(filters = {}, options = {}) {
    checkOptions("list", options);
    const { pageSize = PAGE_SIZE, timeout = WAIT_SECONDS } = options;
    let content = modifiedSince(this.#kind, toJson(filters));
    // The low lane takes no request that may be sent in pages.
    if (options.priority !== "low" && canBePaged(query(this.#kind, content), options)) {
      content = { "@iterator": "Start", MaxReturned: pageSize, ...content };
    }
    return this.#listed(query(this.#kind, content), options, checkedSeconds(timeout));
  }

  /** @param {Tree} request @param {Tree} options @param {number} seconds @returns {AsyncGenerator<Tree, void>} */
  async *#listed(request, options, seconds) {
    const call = sameCall("list", request, options);
    const id = this.#reads.take(call) ?? (await this.#service.queue(request, options)).id;
    let isFirst = true;
    try {
      for await (const page of this.#service.pages(id, () => this.#service.now() + seconds)) {
        isFirst = false;
        yield* objects(this.#kind, page);
      }
    } catch (error) {
      if (!(error instanceof StillWaiting)) throw error;
      if (isFirst) this.#reads.keep(call, id);
      throw new StillQueued(error.record);
    }
  }

  /** @param {string} id @param {Tree} [options] */
  async delete(id, options = {}) {
    checkOptions("delete", options);
    return resultOf(await this.#written("delete", removal(this.#kind, "delete", id), options));
  }

  /** @param {string} id @param {Tree} [options] */
  async void(id, options = {}) {
    checkOptions("void", options);
    return resultOf(await this.#written("void", removal(this.#kind, "void", id), options));
  }

  /** @param {string} id @param {Tree} fields @param {Tree} [options] */
  async update(id, fields, options = {}) {
    checkOptions("update", options);
    const line = this.#kind.changedLines.find((one) => one === `${this.#kind.name}LineMod`);
    const { removeLines: removed = [], ...wanted } = toJson(withLines(this.#kind, fields, line));
    const call = sameCall("update", { id, wanted, removed }, options);
    const deadline = this.#deadline(options);
    let attempt =
      this.#writes.take(call) ??
      this.#change(wanted, removed, await this.#readAgain(id, options, deadline), options, 1);
    for (;;) {
      try {
        return resultOf(await this.#finished(call, attempt, options, deadline))[`${this.#kind.name}Ret`];
      } catch (error) {
        if (!(error instanceof StaleEditSequence) || attempt.number > REPEATS) throw error;
        this.#writes.keep(call, attempt); // The same call compares with what this one has read.
        const now = await this.#readAgain(id, options, deadline);
        this.#writes.remove(call, attempt);
        const changes = changedMeanwhile(this.#kind, wanted, removed, /** @type {Tree} */ (attempt.read), now);
        if (!changes) throw error;
        if (changes.length > 0) throw new Conflict(this.#kind.name, id, changes);
        const left = removed.filter((/** @type {string} */ one) => lineIds(this.#kind, now).has(one));
        attempt = this.#change(wanted, left, now, options, attempt.number + 1);
      }
    }
  }

  /**
   * Return the Mod that changes the object as it was read.
   * @param {Tree} fields @param {string[]} removed @param {Tree} read @param {Tree} options @param {number} number
   * @returns {Attempt}
   */
  #change(fields, removed, read, options, number) {
    const { name, key } = this.#kind;
    const { [key]: id, EditSequence } = read;
    const content = { [key]: id, EditSequence, ...merged(this.#kind, fields, removed, read) };
    const chosen = options.idempotencyKey ?? this.#service.newKey();
    const request = { [`${name}ModRq`]: { [`${name}Mod`]: content } };
    return { request, key: number === 1 ? chosen : `${chosen}/${number}`, read, number };
  }

  /** @param {string} id @param {Tree} options @param {number} deadline */
  #readAgain(id, { version, priority }, deadline) {
    return this.get(id, { version, priority, timeout: deadline - this.#service.now() });
  }

  /** @param {string} element @param {string} value @param {Tree} options @returns {Promise<Tree[]>} */
  async #found(element, value, options) {
    const lines = this.#kind.hasLines ? { IncludeLineItems: true } : {};
    const request = query(this.#kind, { [element]: [value], ...lines });
    const [call, deadline] = [sameCall("get", request, options), this.#deadline(options)];
    const id = this.#reads.take(call) ?? (await this.#service.queue(request, options)).id;
    try {
      return objects(this.#kind, resultOf(await this.#service.wait(id, deadline - this.#service.now())));
    } catch (error) {
      if (!(error instanceof StillWaiting)) throw error;
      this.#reads.keep(call, id);
      throw new StillQueued(error.record);
    }
  }

  /** @param {string} method @param {Tree} request @param {Tree} options @returns {Promise<QueuedRequest>} */
  #written(method, request, options) {
    const call = sameCall(method, request, options);
    const deadline = this.#deadline(options);
    const attempt = this.#writes.take(call) ?? {
      request,
      key: options.idempotencyKey ?? this.#service.newKey(),
      number: 1,
    };
    return this.#finished(call, attempt, options, deadline);
  }

  /**
   * Queue a write, unless it is queued, and return its record after its end. A write that may be in the queue is kept,
   * so that the same call does not queue it again.
   * @param {string} call @param {Attempt} attempt @param {Tree} options @param {number} deadline
   * @returns {Promise<QueuedRequest>}
   */
  async #finished(call, attempt, options, deadline) {
    try {
      attempt.id ??= (await this.#service.queue(attempt.request, { ...options, idempotencyKey: attempt.key })).id;
      return await this.#service.wait(attempt.id, deadline - this.#service.now());
    } catch (error) {
      if (!(error instanceof ApiError && REFUSED.has(error.status))) this.#writes.keep(call, attempt);
      throw error instanceof StillWaiting ? new StillQueued(error.record) : error;
    }
  }

  /** @param {Tree} options */
  #deadline({ timeout = WAIT_SECONDS }) {
    return this.#service.now() + checkedSeconds(timeout);
  }
}

/** Return a resource of a client: the methods that its object has. @param {Kind} kind @param {Service} service */
export function resourceOf(kind, service) {
  /** @type {Tree} */
  const operations = new Operations(kind, service);
  return methodsOf(kind.methods, (method, given) => operations[method](...given));
}

/** The methods of resources that a batch has. */
export const STEPS = ["create", "ensure", "delete", "void"];

/** Return a resource of a batch. @param {Kind} kind @param {{ add(request: Tree, options: Tree): Tree }} batch */
export function stepsOf(kind, batch) {
  const steps = STEPS.filter((method) => kind.methods.includes(method));
  return methodsOf(steps, (method, [given, options = {}]) => {
    checkOptions(method, options, method === "create" ? OPTIONS.add : OPTIONS.step);
    if (method === "create") return batch.add(addition(kind, given), options);
    if (method === "ensure") return batch.add(addition(kind, given), { ...options, ifExists: kind.ifExists });
    return batch.add(removal(kind, method, given), options);
  });
}

/** @param {string[]} methods @param {(method: string, given: any[]) => any} make */
function methodsOf(methods, make) {
  return Object.freeze(
    Object.fromEntries(methods.map((method) => [method, (/** @type {any[]} */ ...given) => make(method, given)])),
  );
}

/** Give a class properties that are made when they are first read. @param {object} prototype @param {string[]} names @param {(owner: any, name: string) => unknown} make */
export function addLazily(prototype, names, make) {
  for (const name of names) {
    Object.defineProperty(prototype, name, {
      configurable: true,
      get() {
        const value = make(this, name);
        Object.defineProperty(this, name, { value });
        return value;
      },
    });
  }
}

/** Return what two calls have in common that are the same. Their timeouts may differ. @param {string} method @param {Tree} content @param {Tree} options */
function sameCall(method, content, options) {
  return inOrder([method, content, { ...options, timeout: undefined }]);
}

/** Return the addition that the fields of `create` or `ensure` say. @param {Kind} kind @param {Tree} fields */
function addition(kind, fields) {
  return { [`${kind.name}AddRq`]: { [`${kind.name}Add`]: withLines(kind, fields, kind.addedLine) } };
}

/** Return the request that deletes or voids an object. @param {Kind} kind @param {string} method @param {unknown} id */
function removal({ name, key }, method, id) {
  const what = key === "ListID" ? "ListDel" : method === "delete" ? "TxnDel" : "TxnVoid";
  return { [`${what}Rq`]: { [`${what}Type`]: name, [key]: id } };
}

/** @param {Kind} kind @param {Tree} content @returns {Tree} */
const query = (kind, content) => ({ [`${kind.name}QueryRq`]: content });

/** Return the objects in the result of a query. @param {Kind} kind @param {Tree} result @returns {Tree[]} */
const objects = (kind, result) => kind.returns.flatMap((name) => result[name]);

/** Return fields with the element that `lines` stands for. @param {Kind} kind @param {Tree} given @param {string} [element] */
function withLines(kind, given, element) {
  if (typeof given !== "object" || given === null) throw new TypeError(`The fields of ${kind.name} must be an object.`);
  const { lines, ...fields } = given;
  if (lines === undefined) return given;
  if (element === undefined) throw new TypeError(`${kind.name} has no lines.`);
  if (element in fields) throw new TypeError(`lines stands for ${element}, which is given too. Give one of them.`);
  return { ...fields, [element]: lines };
}

/** Return filters with the element that `modifiedSince` stands for. @param {Kind} kind @param {Tree} given */
function modifiedSince(kind, { modifiedSince: since, ...filters }) {
  if (since === undefined) return filters;
  const [outer, inner] = kind.modified;
  if (outer === undefined) throw new TypeError(`${kind.name} has no time of its last change.`);
  const limit = inner === undefined ? filters : (filters[outer] ?? {});
  const last = inner ?? outer;
  if (last in limit) throw new TypeError(`modifiedSince and ${last} are the same limit. Give one of them.`);
  return inner === undefined ? { ...filters, [last]: since } : { ...filters, [outer]: { ...limit, [last]: since } };
}
