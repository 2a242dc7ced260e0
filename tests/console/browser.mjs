// What the libraries of the console need of a browser, for `node --test`: storage, an address, and the schema's files.
import { readFile } from "node:fs/promises";

const SCHEMA = new URL("../../src/domain/qbxml/schema/data/", import.meta.url);

/** `Object.keys` of a storage are its names. */
class Storage {
  getItem(name) {
    return this[name] ?? null;
  }
  setItem(name, value) {
    this[name] = String(value);
  }
  removeItem(name) {
    delete this[name];
  }
}

async function fetch(address) {
  const [, file] = /\/schema\/([A-Za-z0-9_/]+\.json)$/.exec(String(address)) ?? [];
  if (!file) throw new TypeError(`No test serves ${address}.`);
  const text = await readFile(new URL(file, SCHEMA), "utf8");
  return { ok: true, json: async () => JSON.parse(text) };
}

const window = new EventTarget();

Object.assign(globalThis, {
  fetch,
  sessionStorage: new Storage(),
  location: new URL("http://localhost/app"),
  addEventListener: window.addEventListener.bind(window),
  dispatchEvent: window.dispatchEvent.bind(window),
  document: Object.assign(new EventTarget(), {
    visibilityState: "visible",
    querySelector: () => ({ getAttribute: () => "on" }), // people can sign in
  }),
});
