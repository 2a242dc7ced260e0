// The options of each method. An option that a method does not have is an error, because it would change nothing.

export const WAIT_SECONDS = 300;
export const PAGE_SIZE = 100;

const SEGMENT = /^[A-Za-z0-9_-]+$/;
const REPLACES = ["replaces", "force", "priority", "approval"];
const OF_SENDING = ["version", "webhookUrl", "label", "metadata", "sendBy", "sendWithin"];
const OF_BODY = [...OF_SENDING, "ifExists"];
const OF_READING = ["validate", "transliterate"];
const COMMON = ["idempotencyKey", ...OF_BODY, ...OF_READING];
const OF_READ = ["timeout", "priority", ...OF_SENDING, ...OF_READING];
const OF_WRITE = ["idempotencyKey", "approval", ...OF_READ];

export const OPTIONS = {
  execute: [...COMMON, "iterate", ...REPLACES, "timeout"],
  iterate: [...COMMON, "timeout", "pageSize"],
  queue: [...COMMON, "iterate", ...REPLACES],
  continueBatch: [...OF_BODY, ...OF_READING, "iterate", "requestId", "force", "approval"],
  batch: ["priority", "approval"],
  add: [...OF_BODY, "approval", "dependsOn"],
  step: [...OF_SENDING, "approval", "dependsOn"],
  create: ["ifExists", ...OF_WRITE],
  ensure: OF_WRITE,
  report: OF_READ,
  get: ["customFields", ...OF_READ],
  find: ["customFields", ...OF_READ],
  list: ["pageSize", "customFields", ...OF_READ],
  update: OF_WRITE,
  delete: OF_WRITE,
  void: OF_WRITE,
  approve: ["acceptValues"],
  reject: ["dependants"],
  events: ["everyConnection"],
  changes: ["subscriptionId"],
  call: ["parameters", "body", "idempotencyKey"],
  Client: ["fetch", "sleep", "clock", "newKey", "chance"],
};

/**
 * Throw a TypeError for an option that a method does not have.
 * @param {string} method @param {object} options @param {string[]} [known]
 */
export function checkOptions(method, options, known = OPTIONS[/** @type {keyof OPTIONS} */ (method)]) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`The options of ${method} must be an object, such as {${known[0] ?? ""}: …}.`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const likely = nearest(name, known);
    const mend = likely ? `Did you mean ${likely}?` : `It has ${known.join(", ") || "none"}.`;
    throw new TypeError(`${method} does not have an option ${name}. ${mend}`);
  }
}

/** Return an id as a part of a path. It needs no encoding. @param {string} id */
export function segment(id) {
  if (typeof id !== "string" || !SEGMENT.test(id))
    throw new TypeError(`${JSON.stringify(id)} is not an id. An id has only letters, digits and hyphens.`);
  return id;
}

/** Return the seconds of a timeout, which must be a number. @param {unknown} seconds @returns {number} */
export function checkedSeconds(seconds) {
  if (typeof seconds !== "number" || Number.isNaN(seconds))
    throw new TypeError("A timeout must be a number of seconds.");
  return seconds;
}

/** Return the name that a misspelt one most likely means, if there is one. @param {string} name @param {string[]} known */
function nearest(name, known) {
  const plain = (/** @type {string} */ text) => text.replaceAll(/[^A-Za-z]/g, "").toLowerCase();
  const [first] = known
    .map((candidate) => ({ candidate, changes: distance(plain(name), plain(candidate)) }))
    .sort((one, other) => one.changes - other.changes);
  return first && first.changes <= Math.max(2, first.candidate.length / 3) ? first.candidate : undefined;
}

/** Return the number of changes of one character between two texts. @param {string} one @param {string} other */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let line = 1; line <= one.length; line++) {
    const next = [line];
    for (let column = 1; column <= other.length; column++) {
      const replaced = /** @type {number} */ (row[column - 1]) + (one[line - 1] === other[column - 1] ? 0 : 1);
      const removed = /** @type {number} */ (row[column]) + 1;
      next.push(Math.min(replaced, removed, /** @type {number} */ (next[column - 1]) + 1));
    }
    row = next;
  }
  return /** @type {number} */ (row[other.length]);
}
