// The idempotency keys of calls whose answer was lost. The service forgets a key after a day.
import { AnswerLost } from "./errors.js";

// How long a call may be repeated with its key: the service knows it for an hour more, in which the call is made.
const REPEATABLE_SECONDS = 23 * 3600;

// What the cause of an error of `fetch` says in Node if no connection was made. Browsers do not tell.
const UNSENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

/** Return whether the service may have got a call that failed. @param {any} error */
export const mayHaveArrived = (error) => !UNSENT.has(error?.cause?.code);

/** Since when the service may know the key of each call whose answer was lost. */
export class Unanswered {
  #clock;
  /** @type {Map<string, [number, number]>} */
  #since = new Map();

  /** @param {() => number} clock */
  constructor(clock) {
    this.#clock = clock;
  }

  /**
   * Return the time of two clocks. One can stand still while its machine sleeps, so the time of day is compared too.
   * @returns {[number, number]}
   */
  now() {
    return [this.#clock(), Date.now() / 1000];
  }

  /** Throw AnswerLost for a call that may have been executed so long ago that it would be executed again. @param {string} path @param {string} [key] */
  check(path, key) {
    const since = this.#since.get(`${path} ${key}`);
    if (!key || !since) return;
    const [clock, day] = this.now();
    if (Math.max(clock - since[0], day - since[1]) >= REPEATABLE_SECONDS) throw new AnswerLost(key);
  }

  /** Keep that the service may know the key of a call since it began. @param {string} path @param {string | undefined} key @param {[number, number]} began */
  add(path, key, began) {
    if (key && !this.#since.has(`${path} ${key}`)) this.#since.set(`${path} ${key}`, began);
  }

  /** Forget a call that was answered. @param {string} path @param {string} [key] */
  remove(path, key) {
    this.#since.delete(`${path} ${key}`);
  }
}
