// A cursor in a file, for programs that run in Node.
import type { Cursor } from "./index.js";

/** A cursor in a file, which `store` replaces as a whole. */
export class FileCursor implements Cursor {
  constructor(path: string);
  /** Return the cursor in the file, or undefined if there is no file. */
  load(): string | undefined;
  store(cursor: string): void;
}
