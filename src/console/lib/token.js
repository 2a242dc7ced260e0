// A token that is renewed before it ends, and once after the service has refused it.
import { ApiError } from "./http.js";

/** A call takes time to arrive. */
const RESERVE_MILLISECONDS = 30_000;

/**
 * @template {{text: string | null, endsAt: number}} Token
 */
export class RenewedToken {
  /** @type {Token | null} */
  current = null;
  /** @type {Promise<Token> | null} The renewal in flight, which all callers share. */
  #renewing = null;
  #ask;
  #now;

  /**
   * @param {(former: Token | null) => Promise<Token>} ask Gets a new token.
   * @param {() => number} now
   */
  constructor(ask, now = Date.now) {
    this.#ask = ask;
    this.#now = now;
  }

  /** Returns a token that does not end soon. Throws what the renewal throws. */
  async fresh() {
    const isFresh = this.current && this.current.endsAt - RESERVE_MILLISECONDS > this.#now();
    return isFresh && this.current ? this.current : this.renew();
  }

  /**
   * Sends a call with a token. A call that was refused with 401 was not executed, so it is sent once more with a new
   * token.
   *
   * @template Answer
   * @param {(text: string | null) => Promise<Answer>} send
   * @returns {Promise<Answer>}
   */
  async use(send) {
    const first = await this.fresh();
    try {
      return await send(first.text);
    } catch (error) {
      if (error.status !== 401) throw error;
    }
    // Another call may have renewed it meanwhile.
    const second = this.current && this.current !== first ? this.current : await this.renew();
    return send(second.text);
  }

  /** Gets a new token, once for all who ask at the same time. */
  renew() {
    if (this.#renewing) return this.#renewing;
    const renewing = this.#ask(this.current).then((token) => {
      if (this.#renewing !== renewing) throw new ApiError(401, "unauthorized", "You have signed out.");
      this.current = token;
      return token;
    });
    const done = () => {
      if (this.#renewing === renewing) this.#renewing = null;
    };
    renewing.then(done, done);
    this.#renewing = renewing;
    return renewing;
  }

  /** Forgets the token. What a renewal in flight brings counts for nobody. */
  forget() {
    this.current = null;
    this.#renewing = null;
  }
}
