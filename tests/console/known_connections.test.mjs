import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { forgetConnections, known, noteConnection, readConnections } from "../../src/console/lib/known_connections.js";
import { session, signIn, signOut } from "../../src/console/lib/session.js";
import { optionsFor } from "../../src/console/views/palette.js";
import { chance, times } from "./support.mjs";

/** The connections of each app, by its key; the pages that were read; and what happens before the next answer. */
const service = { names: {}, read: [], meanwhile: () => {} };

globalThis.fetch = async (address, { headers }) => {
  const { pathname, searchParams } = new URL(address);
  const key = atob(headers.Authorization.slice(6)).slice(0, -1);
  if (pathname.endsWith("/api_key")) return Response.json({ data: { app_id: key, permissions: ["read", "operate"] } });
  const [page, size] = ["page", "page_size"].map((name) => Number(searchParams.get(name)));
  const names = service.names[key];
  const data = names.slice((page - 1) * size, page * size).map((name) => ({ id: name, name }));
  service.read.push(page);
  service.meanwhile(page);
  return Response.json({ data, page, total: names.length, total_pages: Math.ceil(names.length / size) });
};

/** Reads the connections as the dialog does, and returns the names that it showed last. */
async function read() {
  let shown = known();
  service.read = [];
  await readConnections(new AbortController().signal, (more) => {
    shown = more;
  });
  return shown.list.map(({ name }) => name);
}

beforeEach(async () => {
  Object.assign(service, { names: { a: times(250, (n) => `A${n}`), b: ["B"] }, meanwhile: () => {} });
  signOut();
  await signIn("a");
});

test("connections are read once in five minutes, at most ten pages", async () => {
  mock.timers.enable({ apis: ["Date"] });
  assert.deepEqual(await read(), service.names.a);
  assert.deepEqual(service.read, [1, 2, 3]);
  mock.timers.tick(299_999);
  assert.deepEqual(await read(), service.names.a);
  assert.deepEqual(service.read, []);
  mock.timers.tick(1);
  service.names.a = times(1_001, (n) => `A${n}`);
  assert.equal((await read()).length, 1_000);
  assert.deepEqual([service.read.length, known().total], [10, 1_001]);
  mock.timers.reset();
});

test("nothing of an app is known to whoever signs in next, also if it is read at the sign-out", async () => {
  for (const page of [0, 1, 2, 3]) {
    signOut();
    await signIn("a");
    service.meanwhile = (at) => {
      if (at === page) signOut();
    };
    await read().catch(() => {}); // The pages after a sign-out are refused.
    if (session.about) signOut();

    service.meanwhile = () => {};
    assert.deepEqual(known().list, [], `page ${page}`);
    await signIn("b");
    assert.deepEqual(await read(), ["B"], `page ${page}`);
  }
});

test("a name that has changed is read again, also if it changes while the former one is read", async () => {
  for (const page of [0, 1, 2, 3]) {
    service.meanwhile = (at) => {
      if (at === page) forgetConnections();
    };
    await read();
    if (!page) forgetConnections();

    service.meanwhile = () => {};
    service.names.a = service.names.a.map((name) => `${name}'`);
    assert.deepEqual(await read(), service.names.a, `page ${page}`);
    forgetConnections();
  }
});

/** Returns which of Pause and Resume are offered for a text. */
const offered = (text) =>
  optionsFor(text, known().list)
    .map(({ name }) => name.split(" ")[0])
    .filter((verb) => ["Pause", "Resume"].includes(verb));

test("after each change only what fits is offered, also if it changes while the list is read", async () => {
  const below = chance(5);
  for (let n = 0; n < 100; n += 1) {
    const one = { id: `A${below(250)}`, name: `Zebra${n}.`, paused_at: below(2) ? "2026-03-01T12:00:00.000Z" : null };
    await read();
    if (below(2)) {
      forgetConnections();
      service.meanwhile = () => noteConnection(one);
      await read();
      assert.deepEqual(known().list, []);
      service.meanwhile = () => {};
      await read();
    }
    noteConnection(one);

    assert.deepEqual(offered(`pause zebra${n}.`), one.paused_at ? [] : ["Pause"]);
    assert.deepEqual(offered(`resume zebra${n}.`), one.paused_at ? ["Resume"] : []);
  }
});

test("of the connection on the screen, what fits is offered as soon as it is read, listed or not", async (context) => {
  const id = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d";
  const { location } = globalThis;
  context.after(() => Object.assign(globalThis, { location }));
  globalThis.location = new URL(`http://localhost/app/connections/${id}`);
  const all = () => ["", `pause ${id}`, `resume ${id}`].map(offered);

  assert.deepEqual(all(), [[], [], []]);
  noteConnection({ id, name: "Zebra", paused_at: null });
  assert.deepEqual(all(), [["Pause"], ["Pause"], []]);
  noteConnection({ id, name: "Zebra", paused_at: "2026-03-01T12:00:00.000Z" });
  assert.deepEqual(all(), [["Resume"], [], ["Resume"]]);
  signOut();
  await signIn("a");
  assert.deepEqual(all(), [[], [], []]);
});

test("any text opens something", () => {
  const roll = chance(7);
  const parts = [" ", "a", "Customer", "“", "%", "/", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "zebra", "new", "\u202e"];
  const connections = [{ id: "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6e", name: "Customer a" }];
  for (const text of ["", ...times(300, () => times(roll(5), () => parts[roll(parts.length)]).join(""))])
    for (const list of [[], connections]) assert.ok(optionsFor(text, list).length > 0, JSON.stringify(text));
});
