// The books of a simulated company, behind the service's own code: clients/python/tests/piped_books.py in a process.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Client } from "../src/index.js";

const REPOSITORY = new URL("../../../", import.meta.url);
const PYTHON = fileURLToPath(new URL(".tools/clients/bin/python", REPOSITORY));
const PROGRAM = fileURLToPath(new URL("clients/python/tests/piped_books.py", REPOSITORY));

const SCHEMA = new URL("clients/python/src/qbxml_queue/schema/facts.py", REPOSITORY);

/** Why the tests with books are skipped, or false. */
export const skip =
  existsSync(PYTHON) && existsSync(SCHEMA)
    ? false
    : "needs the Python client: make test-clients installs and generates it";

/** A service for one company. It executes each request when it is queued, or later while it is closed. */
export class Books {
  #process = spawn(PYTHON, [PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
  #waiting = [];

  constructor() {
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#waiting.shift()(JSON.parse(line)));
  }

  /** Call a method of the process. */
  async do(name, given = {}) {
    const answer = await new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#process.stdin.write(`${JSON.stringify({ do: name, ...given })}\n`);
    });
    if (answer.error) throw new Error(answer.error);
    return answer.is;
  }

  /**
   * Begin with the books of a new company, and return a client of them. Only pauses and `pass` move its clock. `before`
   * is done before each call of the client.
   */
  async open(before = () => {}) {
    await this.do("start");
    let [number, now] = [0, 0];
    this.pass = (seconds) => {
      now += seconds;
    };
    return new Client("https://queue.example/", "sk_test", "11111111-1111-4111-8111-111111111111", {
      fetch: async (url, { method, headers, body }) => {
        before();
        const path = url.slice("https://queue.example".length);
        const answer = await this.do("call", { method, path, headers, body: body ?? null });
        if (answer.lost) throw new TypeError("fetch failed");
        if (answer.unsent) throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
        return new Response(answer.body, { status: answer.status });
      },
      sleep: async (seconds) => {
        now += seconds;
      },
      clock: () => now,
      newKey: () => `key-${++number}`,
      chance: () => 0.5,
    });
  }

  close() {
    this.#process.stdin.end();
  }
}

/** Numbers from 0 to 1 that are the same for each seed (mulberry32). */
export class Chance {
  #state;

  constructor(seed) {
    this.#state = seed * 2654435761;
  }

  next() {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from least to most. */
  number(least, most) {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  choice(values) {
    return values[this.number(0, values.length - 1)];
  }

  sample(values, count) {
    const left = [...values];
    return Array.from({ length: count }, () => left.splice(this.number(0, left.length - 1), 1)[0]);
  }

  shuffled(values) {
    return this.sample(values, values.length);
  }
}
