// Resources: the objects of QuickBooks by their names, such as `books.customers`. schema/resources.d.cts has them.
import { asked, checkLines, checked, conflicts, differing, withCustomFields, written } from "./custom-fields.js";
import {
  Ambiguous,
  ApiError,
  Conflict,
  CustomFieldsNotWritten,
  NotFound,
  RequestFailed,
  StaleEditSequence,
  StillQueued,
  StillWaiting,
} from "./errors.js";
import { toJson } from "./json.js";
import { changedMeanwhile, lineIds, merged } from "./merging.js";
import { OPTIONS, PAGE_SIZE, WAIT_SECONDS, checkOptions, checkedSeconds } from "./options.js";
import { canBePaged } from "./queries.js";
import { Begun, readOnce, sameCall } from "./reading.js";
import { resultOf } from "./results.js";

/** @import { Alteration, Attempt, Kind, Service, Tree } from "./internal.js" */
/** @import { QueuedRequest } from "./schema/records.cjs" */

// How often a change is repeated after somebody else has changed the object.
const REPEATS = 3;
// The statuses of a call that the service has read and refused. After any other error the request may be in the queue,
// also after one that was not executed: the call before it may have been.
const REFUSED = new Set([400, 404, 409, 413, 422]);

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

  /** @param {string} method @param {Tree} given @param {Tree} options */
  async #add(method, given, options) {
    const { customFields, ...others } = fieldsOf(this.#kind, given);
    const fields = toJson(others);
    const wanted = checked(this.#kind, method, customFields);
    const request = addition(this.#kind, fields);
    const call = sameCall(method, { request, wanted }, options);
    const deadline = this.#deadline(options);
    let attempt = this.#writes.take(call);
    if (!attempt) {
      attempt = { cause: this.#cause(options), request, customFields: wanted, number: 1 };
      // A program that was restarted repeats a call with its key, and then the same body.
      if (isFilled(wanted) && (options.ifExists ?? "fail") !== "fail" && options.idempotencyKey === undefined) {
        attempt.read = await this.#existing(call, request, options, deadline);
        if (attempt.read) attempt.customFields = differing(wanted, attempt.read);
      }
    }
    const [object, outcome] = await this.#finished(call, attempt, options, deadline);
    return { ...object, "@outcome": outcome ?? "created" };
  }

  /**
   * Return the object that an addition would find, if it is certainly that one.
   * @param {string} call @param {Tree} request @param {Tree} options @param {number} deadline
   * @returns {Promise<Tree | undefined>}
   */
  async #existing(call, request, options, deadline) {
    const fields = request[`${this.#kind.name}AddRq`][`${this.#kind.name}Add`];
    const name = soughtName(this.#kind, fields);
    if (name === undefined) return undefined;
    const reading = this.#reading(options, deadline, true);
    const found = await this.#found(/** @type {string} */ (this.#kind.sought), name, reading, call);
    const same = found.filter((one) => hasOwner(fields, one));
    return same.length === 1 ? same[0] : undefined;
  }

  /** @param {string} id @param {Tree} [options] */
  async get(id, options = {}) {
    checkOptions("get", options);
    return this.#get(id, options, "get");
  }

  /** @param {string} id @param {Tree} options @param {string} of */
  async #get(id, options, of) {
    const [found] = await this.#found(this.#kind.key, id, options, of);
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
    if (isAsked(this.#kind, options)) content = asked(content);
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
        yield* objects(this.#kind, page, options);
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
    return this.#remove("delete", id, options);
  }

  /** @param {string} id @param {Tree} [options] */
  async void(id, options = {}) {
    checkOptions("void", options);
    return this.#remove("void", id, options);
  }

  /** @param {string} method @param {string} id @param {Tree} options */
  async #remove(method, id, options) {
    const request = removal(this.#kind, method, id);
    const [call, deadline] = [sameCall(method, request, options), this.#deadline(options)];
    const attempt = this.#writes.take(call) ?? { cause: this.#cause(options), request, customFields: {}, number: 1 };
    return resultOf(await this.#kept(call, attempt, () => this.#end(attempt, options, deadline)));
  }

  /** @param {string} id @param {Tree} given @param {Tree} [options] */
  async update(id, given, options = {}) {
    checkOptions("update", options);
    const change = alteration(this.#kind, id, given);
    const [call, deadline] = [sameCall("update", change, options), this.#deadline(options)];
    let attempt = this.#writes.take(call);
    if (!attempt) {
      const read = await this.#readAgain(call, change, options, deadline);
      attempt = this.#change(change, change.removed, read, this.#cause(options), 1);
    }
    for (;;) {
      try {
        const [object] = await this.#finished(call, attempt, options, deadline);
        this.#writes.forget((one) => !one.request && one.objectId === id);
        return object;
      } catch (error) {
        if (!(error instanceof StaleEditSequence) || attempt.number > REPEATS) throw error;
        // If this read does not end, the same call compares with what the first one has read.
        const now = await this.#kept(call, attempt, () => this.#readAgain(call, change, options, deadline));
        attempt = this.#repeated(change, attempt, now, error);
      }
    }
  }

  /**
   * Return the next attempt, after somebody else has changed other fields. Throws Conflict, or `stale`.
   * @param {Alteration} change @param {Attempt} attempt @param {Tree} now @param {StaleEditSequence} stale
   */
  #repeated(change, attempt, now, stale) {
    const { id, fields, removed, customFields } = change;
    const before = /** @type {Tree} */ (attempt.read);
    const changes = changedMeanwhile(this.#kind, fields, removed, before, now);
    if (!changes) throw stale;
    if (isFilled(customFields)) changes.push(...conflicts(customFields, before, now));
    if (changes.length > 0) throw new Conflict(this.#kind.name, id, changes);
    const left = removed.filter((one) => lineIds(this.#kind, now).has(one));
    return this.#change(change, left, now, attempt.cause, attempt.number + 1);
  }

  /**
   * Return the attempt that changes the object as it was read.
   * @param {Alteration} change @param {string[]} removed @param {Tree} read @param {string} cause @param {number} number
   * @returns {Attempt}
   */
  #change({ id, fields, customFields }, removed, read, cause, number) {
    const { name, key } = this.#kind;
    const left = isFilled(customFields) ? differing(customFields, read) : {};
    const attempt = { cause, read, objectId: id, customFields: left, number };
    if (!isFilled(fields) && removed.length === 0 && isFilled(customFields)) return attempt;
    const content = { [key]: read[key], EditSequence: read.EditSequence, ...merged(this.#kind, fields, removed, read) };
    return { ...attempt, request: { [`${name}ModRq`]: { [`${name}Mod`]: content } } };
  }

  /** @param {string} call @param {Alteration} change @param {Tree} options @param {number} deadline */
  #readAgain(call, { id, customFields }, options, deadline) {
    return this.#get(id, this.#reading(options, deadline, isFilled(customFields)), call);
  }

  /** Return the options of a read that belongs to a write. @param {Tree} options @param {number} deadline @param {boolean} customFields */
  #reading({ version, priority }, deadline, customFields) {
    return { version, priority, customFields, timeout: deadline - this.#service.now() };
  }

  /**
   * Return what a query finds. Only the same write resumes a read `of` a write: another read may be too old.
   * @param {string} element @param {string} value @param {Tree} options @param {string} [of] @returns {Promise<Tree[]>}
   */
  async #found(element, value, options, of = "get") {
    const request = this.#query(element, value, isAsked(this.#kind, options));
    return objects(this.#kind, resultOf(await readOnce(this.#service, this.#reads, request, options, of)), options);
  }

  /** Return the query for an object, with its lines. @param {string} element @param {unknown} value @param {boolean} isWhole */
  #query(element, value, isWhole) {
    const filters = { [element]: [value], ...(this.#kind.hasLines ? { IncludeLineItems: true } : {}) };
    return query(this.#kind, isWhole ? asked(filters) : filters);
  }

  /**
   * Do a write, unless it is done, and return the object and what became of it. Throws StillQueued.
   * @param {string} call @param {Attempt} attempt @param {Tree} options @param {number} deadline
   * @returns {Promise<[Tree, string | null | undefined]>}
   */
  async #finished(call, attempt, options, deadline) {
    if (isFilled(attempt.customFields)) {
      await this.#kept(call, attempt, () => this.#endTogether(attempt, options, deadline));
      return this.#allWritten(call, attempt);
    }
    if (!attempt.request) {
      if (attempt.read) return [attempt.read, undefined];
      const reading = this.#reading(options, deadline, true);
      const id = /** @type {string} */ (attempt.objectId);
      return [await this.#kept(call, attempt, () => this.#get(id, reading, call)), attempt.outcome];
    }
    const record = await this.#kept(call, attempt, () => this.#end(attempt, options, deadline));
    const object = resultOf(record)[`${this.#kind.name}Ret`];
    const customFields = attempt.read?.customFields;
    return [customFields ? { ...object, customFields } : object, record.outcome];
  }

  /**
   * Take the steps of a write. One that may be in the queue is kept, so that the same call does not queue it again.
   * @template T @param {string} call @param {Attempt} attempt @param {() => Promise<T>} steps @returns {Promise<T>}
   */
  async #kept(call, attempt, steps) {
    try {
      return await steps();
    } catch (error) {
      const isRefused = error instanceof ApiError && REFUSED.has(error.status);
      if (!attempt.request || attempt.id !== undefined || !isRefused) this.#writes.keep(call, attempt);
      throw error instanceof StillWaiting ? new StillQueued(error.record) : error;
    }
  }

  /**
   * Queue the request of an attempt, unless it is queued, and return its record after its end.
   * @param {Attempt} attempt @param {Tree} options @param {number} deadline @returns {Promise<QueuedRequest>}
   */
  async #end(attempt, options, deadline) {
    const request = /** @type {Tree} */ (attempt.request);
    attempt.id ??= (await this.#service.queue(request, { ...options, idempotencyKey: keyOf(attempt) })).id;
    return this.#service.wait(attempt.id, deadline - this.#service.now());
  }

  /** Queue an attempt with custom fields as a batch, unless it is queued, and wait for its end. @param {Attempt} attempt @param {Tree} options @param {number} deadline */
  async #endTogether(attempt, options, deadline) {
    const batch = (attempt.batch ??= this.#batch(attempt, options));
    if (!batch.isQueued) await batch.queue(options);
    for (const entry of batch.entries) {
      entry.update(await this.#service.wait(entry.record.id, deadline - this.#service.now()));
    }
  }

  /** Return the requests of an attempt: the write, its custom fields, and the query for the object after them. @param {Attempt} attempt @param {Tree} options */
  #batch(attempt, options) {
    const batch = this.#service.batch(keyOf(attempt), { priority: options.priority });
    const told = Object.fromEntries(Object.entries(options).filter(([name]) => OPTIONS.step.includes(name)));
    const reading = { ...told, approval: undefined };
    let id = attempt.objectId;
    if (attempt.request) {
      const step = batch.add(attempt.request, { ...told, ifExists: options.ifExists });
      id ??= step.value(this.#kind.key);
    }
    const before = batch.entries;
    for (const request of written(this.#kind, id, attempt.customFields)) {
      batch.add(request, { ...told, dependsOn: before });
    }
    batch.add(this.#query(this.#kind.key, id, true), { ...reading, dependsOn: batch.entries });
    return batch;
  }

  /**
   * Return the object after a batch has ended. What was not written is kept for the same call. Throws RequestFailed if
   * the object was not written, and CustomFieldsNotWritten.
   * @param {string} call @param {Attempt} attempt @returns {[Tree, string | null | undefined]}
   */
  #allWritten(call, attempt) {
    const entries = [...(attempt.batch?.entries ?? [])];
    const reading = entries.pop();
    let { outcome, objectId } = attempt;
    if (attempt.request) {
      const { record } = entries.shift();
      objectId = resultOf(record)[`${this.#kind.name}Ret`][this.#kind.key];
      outcome = record.outcome;
    }
    const values = Object.entries(attempt.customFields);
    const failures = Object.fromEntries(
      values.flatMap(([name], index) => {
        const failure = failureIn(() => resultOf(entries[index].record));
        return failure ? [[name, failure]] : [];
      }),
    );
    const customFields = Object.fromEntries(values.filter(([name]) => name in failures));
    /** @type {Attempt} */
    const next = { cause: attempt.cause, objectId, customFields, number: attempt.number + 1, outcome };
    try {
      if (isFilled(failures)) throw new CustomFieldsNotWritten(this.#kind.name, String(objectId), failures);
      const [read] = objects(this.#kind, resultOf(reading.record), { customFields: true });
      return [/** @type {Tree} */ (read), outcome];
    } catch (error) {
      this.#writes.keep(call, next);
      throw error;
    }
  }

  /** @param {Tree} options @returns {string} */
  #cause(options) {
    return options.idempotencyKey ?? this.#service.newKey();
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
    if (method === "create") return addedTo(batch, kind, method, given, options);
    if (method === "ensure") return addedTo(batch, kind, method, given, { ...options, ifExists: kind.ifExists });
    return batch.add(removal(kind, method, given), options);
  });
}

/**
 * Add an addition to a batch, and its custom fields behind it.
 * @param {{ add(request: Tree, options: Tree): Tree }} batch @param {Kind} kind @param {string} method @param {Tree} given
 * @param {Tree} options
 */
function addedTo(batch, kind, method, given, options) {
  const { customFields, ...fields } = fieldsOf(kind, given);
  const wanted = checked(kind, method, customFields);
  const step = batch.add(addition(kind, fields), options);
  const told = { ...options, ifExists: undefined, dependsOn: undefined };
  if (isFilled(wanted)) for (const one of written(kind, step.value(kind.key), wanted)) batch.add(one, told);
  return step;
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

/** Return the addition that the fields of `create` or `ensure` say. @param {Kind} kind @param {Tree} fields */
function addition(kind, fields) {
  return { [`${kind.name}AddRq`]: { [`${kind.name}Add`]: withLines(kind, fields, kind.addedLine) } };
}

/** Return the change that the arguments of `update` say. @param {Kind} kind @param {string} id @param {Tree} given @returns {Alteration} */
function alteration(kind, id, given) {
  const line = kind.changedLines.find((one) => one === `${kind.name}LineMod`);
  const { customFields, ...others } = fieldsOf(kind, given);
  const { removeLines: removed = [], ...fields } = toJson(withLines(kind, others, line));
  checkLines(kind, id, fields);
  return { id, fields, removed, customFields: checked(kind, "update", customFields) };
}

/** The elements that own the number of a transaction. A transaction has one of them. */
const OWNERS = ["CustomerRef", "VendorRef", "AccountRef", "BankAccountRef", "CreditCardAccountRef"];

/** Return the full name, or the number, of an object that is added. @param {Kind} kind @param {Tree} fields @returns {string | undefined} */
function soughtName(kind, { RefNumber, Name, ParentRef }) {
  if (kind.key === "TxnID") return RefNumber;
  if (kind.sought !== "FullName" || !ParentRef) return kind.sought === "FullName" ? Name : undefined;
  return typeof ParentRef.FullName === "string" && Name !== undefined ? `${ParentRef.FullName}:${Name}` : undefined;
}

/** Return whether an object has the customer, the vendor or the account of an addition, if it names one. @param {Tree} fields @param {Tree} found */
function hasOwner(fields, found) {
  const owner = OWNERS.find((one) => fields[one] !== undefined);
  if (!owner) return true;
  const [given, there] = [fields[owner], found[owner] ?? {}];
  if (typeof given.ListID === "string") return given.ListID === there.ListID;
  return typeof given.FullName === "string" && given.FullName.toLowerCase() === String(there.FullName).toLowerCase();
}

/** Return whether a read also returns custom fields. @param {Kind} kind @param {Tree} options */
function isAsked(kind, { customFields = false }) {
  if (customFields) checked(kind, "get", {});
  return customFields;
}

/** The idempotency key of an attempt. Each has its own, which follows from the cause. @param {Attempt} attempt */
const keyOf = ({ cause, number }) => (number === 1 ? cause : `${cause}/${number}`);

/** @param {object} tree */
const isFilled = (tree) => Object.keys(tree).length > 0;

/** Return the error of a request that failed, if it did. @param {() => unknown} use */
function failureIn(use) {
  try {
    use();
    return undefined;
  } catch (error) {
    if (error instanceof RequestFailed) return error;
    throw error;
  }
}

/** Return the request that deletes or voids an object. @param {Kind} kind @param {string} method @param {unknown} id */
function removal({ name, key }, method, id) {
  const what = key === "ListID" ? "ListDel" : method === "delete" ? "TxnDel" : "TxnVoid";
  return { [`${what}Rq`]: { [`${what}Type`]: name, [key]: id } };
}

/** @param {Kind} kind @param {Tree} content @returns {Tree} */
const query = (kind, content) => ({ [`${kind.name}QueryRq`]: content });

/** Return the objects in the result of a query. @param {Kind} kind @param {Tree} result @param {Tree} options @returns {Tree[]} */
function objects(kind, result, { customFields = false }) {
  const found = kind.returns.flatMap((name) => result[name]);
  return customFields ? found.map(withCustomFields) : found;
}

/** @param {Kind} kind @param {Tree} given @returns {Tree} */
function fieldsOf(kind, given) {
  if (typeof given !== "object" || given === null) throw new TypeError(`The fields of ${kind.name} must be an object.`);
  return given;
}

/** Return fields with the element that `lines` stands for. @param {Kind} kind @param {Tree} given @param {string} [element] */
function withLines(kind, given, element) {
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
