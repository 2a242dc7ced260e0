// Reads that the same call resumes.
import { StillQueued, StillWaiting } from "./errors.js";
import { inOrder } from "./json.js";
import { WAIT_SECONDS, checkedSeconds } from "./options.js";

/** @import { Service, Tree } from "./internal.js" */
/** @import { QueuedRequest } from "./schema/records.cjs" */

/** What was begun by calls that ended before its end, by what the calls have in common. @template T */
export class Begun {
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

  /** Forget those that have ended otherwise. @param {(one: T) => boolean} hasEnded */
  forget(hasEnded) {
    for (const [call, all] of [...this.#all]) {
      this.#set(
        call,
        all.filter((one) => !hasEnded(one)),
      );
    }
  }

  /** @param {string} call @param {T[]} all */
  #set(call, all) {
    if (all.length > 0) this.#all.set(call, all);
    else this.#all.delete(call);
  }
}

/** Return what two calls have in common that are the same. Their timeouts may differ. @param {string} method @param {Tree} content @param {Tree} options */
export function sameCall(method, content, options) {
  return inOrder([method, content, { ...options, timeout: undefined }]);
}

/**
 * Queue a query, unless the same call has, and return its record after its end. Throws StillQueued. `of` is the call
 * that needs it.
 * @param {Service} service @param {Begun<string>} reads @param {Tree} request @param {Tree} options @param {string} of
 * @returns {Promise<QueuedRequest>}
 */
export async function readOnce(service, reads, request, options, of = "get") {
  const call = sameCall(of, request, options);
  const deadline = service.now() + checkedSeconds(options.timeout ?? WAIT_SECONDS);
  const id = reads.take(call) ?? (await service.queue(request, options)).id;
  try {
    return await service.wait(id, deadline - service.now());
  } catch (error) {
    if (!(error instanceof StillWaiting)) throw error;
    reads.keep(call, id);
    throw new StillQueued(error.record);
  }
}
