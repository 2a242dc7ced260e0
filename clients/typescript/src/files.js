// A cursor in a file, for programs that run in Node.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";

export class FileCursor {
  #path;

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
  }

  load() {
    if (!existsSync(this.#path)) return undefined;
    return readFileSync(this.#path, "ascii").trim() || undefined;
  }

  /** @param {string} cursor */
  store(cursor) {
    const draft = `${this.#path}.new`;
    const file = openSync(draft, "w");
    try {
      writeSync(file, cursor);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, this.#path);
  }
}
