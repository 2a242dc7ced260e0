// The errors of the client. index.d.ts describes them.

/** @import { Change } from "./calls.cjs" */
/** @import { QueuedRequest } from "./schema/records.cjs" */

const STALE_EDIT_SEQUENCE = 3200;

export class QbxmlQueueError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = new.target.name;
  }
}

export class ApiError extends QbxmlQueueError {
  /**
   * @param {number} status
   * @param {string} code
   * @param {string} message
   * @param {Record<string, any>} [details]
   */
  constructor(status, code, message, details = {}) {
    /** @type {any[]} */
    const problems = details.problems ?? [];
    super(
      [
        `${status} ${code}: ${message}`,
        ...problems.map((problem) => `  ${problem.message} ${problem.suggestion ?? ""}`.trimEnd()),
      ].join("\n"),
    );
    this.status = status;
    this.code = code;
    this.details = details;
    this.problems = problems;
  }
}

export class ReadOnlyKey extends ApiError {
  constructor() {
    super(403, "forbidden", "A read-only key cannot queue requests. Use a key with the scope full.");
  }
}

export class AnswerLost extends QbxmlQueueError {
  /** @param {string} key */
  constructor(key) {
    super(
      "The answer to this call was lost over 23 hours ago, and the service forgets its idempotency key " +
        `${shown(key)} after 24 hours. The service may have queued the request, so the client does not make the call ` +
        "again. Look in QuickBooks and in the list of requests. If nothing was written, make the call with a new " +
        "idempotencyKey.",
    );
    this.key = key;
  }
}

export class InvalidSignature extends QbxmlQueueError {}

export class StillWaiting extends QbxmlQueueError {
  /** @param {QueuedRequest} record */
  constructor(record) {
    const reason = record.waiting_reason ? ` ${record.waiting_reason.message}` : "";
    super(`${record.request_name} ${record.id} is still ${record.state}.${reason}`);
    this.record = record;
  }
}
export class StillQueued extends StillWaiting {
  get id() {
    return this.record.id;
  }
}

export class RequestFailed extends QbxmlQueueError {
  /**
   * @param {QueuedRequest} record
   * @param {string} code
   * @param {string} message
   * @param {Record<string, any>} details
   */
  constructor(record, code, message, details) {
    super(`${record.request_name} ${record.id}: ${code}: ${message}${details.hint ? ` ${details.hint}` : ""}`);
    this.record = record;
    this.code = code;
    this.details = details;
    /** @type {string | undefined} */
    this.reason = details.reason;
    /** @type {string | undefined} */
    this.hint = details.hint;
    /** @type {number | undefined} */
    this.statusCode = details.status_code;
    this.isRetryable = details.retryable === true;
  }
}

export class QuickBooksError extends RequestFailed {}
export class StaleEditSequence extends QuickBooksError {}
export class OutcomeUnknown extends RequestFailed {}
export class DependencyFailed extends RequestFailed {}
export class Discarded extends RequestFailed {}
export class ResultUnavailable extends RequestFailed {}
export class NotFound extends QbxmlQueueError {
  /** @param {string} kind @param {string} id */
  constructor(kind, id) {
    super(`The books have no ${kind} with the id ${shown(id)}.`);
  }
}

export class Ambiguous extends QbxmlQueueError {
  /** @param {string} kind @param {string} sought @param {string[]} ids */
  constructor(kind, sought, ids) {
    super(`The books have ${ids.length} objects of the type ${kind} with ${shown(sought)}: ${ids.join(", ")}.`);
    this.ids = ids;
  }
}

export class Conflict extends QbxmlQueueError {
  /** @param {string} kind @param {string} id @param {Change[]} changes */
  constructor(kind, id, changes) {
    const both = changes.map(
      ({ field, theirs, ours }) => `${field} is ${shown(theirs)} now, and this call writes ${shown(ours)}`,
    );
    super(`${kind} ${id} was changed meanwhile: ${both.join("; ")}. Read it and decide which value stays.`);
    this.changes = changes;
  }
}

export class CustomFieldsNotWritten extends QbxmlQueueError {
  /** @param {string} kind @param {string} id @param {Record<string, RequestFailed>} failures */
  constructor(kind, id, failures) {
    const each = Object.entries(failures).map(([name, failure]) => `${shown(name)}: ${failure.message}`);
    super(
      `${kind} ${id} was written, but not these custom fields: ${each.join("; ")} ` +
        "Define them in QuickBooks and make the same call again: it writes only what is missing.",
    );
    this.id = id;
    this.failures = failures;
  }
}

/** Return a value as a message has it. @param {unknown} value */
const shown = (value) => JSON.stringify(value) ?? "nothing";

/** @type {Record<string, typeof RequestFailed>} */
const CODES = {
  quickbooks_error: QuickBooksError,
  outcome_unknown: OutcomeUnknown,
  dependency_failed: DependencyFailed,
};

/** Return the error of a request that has ended without a result. @param {QueuedRequest} record */
export function failureOf(record) {
  const { error } = record;
  if (error) {
    /** @type {Record<string, any>} */
    const details = error.details;
    const Kind = details.status_code === STALE_EDIT_SEQUENCE ? StaleEditSequence : (CODES[error.code] ?? RequestFailed);
    return new Kind(record, error.code, error.message, details);
  }
  if (record.state === "discarded") return new Discarded(record, "discarded", "The request was discarded.", {});
  const message = "The result is left out because it is too large or cannot be read. Read response_xml.";
  return new ResultUnavailable(record, "result_unavailable", message, {});
}
