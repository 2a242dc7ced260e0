// What tsc says to users of the client.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ROUTES } from "../src/schema/routes.js";

const CLIENT = join(dirname(fileURLToPath(import.meta.url)), "..");
const REPOSITORY = join(CLIENT, "..", "..");
const TSC = join(REPOSITORY, ".tools", "clients", "node_modules", "typescript", "bin", "tsc");
const skip = existsSync(TSC) ? false : "needs TypeScript: make test-clients installs it";
const OPTIONS = [
  "--strict",
  "--noEmit",
  "--target",
  "es2022",
  "--module",
  "nodenext",
  "--lib",
  "es2022,dom,dom.iterable",
];

const RIGHT = `
import { Client, Conflict, StillQueued, StillWaiting, verify } from "qbxml-queue";
import type { ReportTable, records, requests, resources, responses } from "qbxml-queue";

export async function invoice(books: Client, lines: requests.InvoiceLineAdd[]): Promise<string> {
  const { CustomerRet: customer } = await books.execute({ CustomerAddRq: { CustomerAdd: { Name: "Ada" } } });
  const known: responses.CustomerRet = customer;
  const { InvoiceRet } = await books.execute(
    {
      InvoiceAddRq: {
        "@requestID": "order-7",
        InvoiceAdd: {
          CustomerRef: { ListID: known.ListID },
          TxnDate: "2026-01-31",
          InvoiceLineAdd: [...lines, { Quantity: 2, Rate: "49.50" }],
        },
      },
    },
    { idempotencyKey: "order-7", timeout: 60 },
  );
  return InvoiceRet.TxnID;
}

export async function order(books: Client): Promise<string | undefined> {
  const batch = books.batch("order-7");
  const customer = batch.add({ CustomerAddRq: { CustomerAdd: { Name: "Ada" } } });
  const CustomerRef = { ListID: customer.ref("CustomerRet/ListID") };
  const invoice = batch.add({ InvoiceAddRq: { InvoiceAdd: { CustomerRef } } }, { dependsOn: [customer] });
  await batch.execute();
  for await (const event of books.events({ load: () => undefined, store: () => {} })) {
    console.log(event.type, "result" in event ? event.result : null);
  }
  return invoice.result.InvoiceRet.BalanceRemaining;
}

export async function names(books: Client): Promise<string[]> {
  const found: string[] = [];
  for await (const page of books.iterate({ CustomerQueryRq: { ActiveStatus: "All" } }, { pageSize: 50 })) {
    found.push(...page.CustomerRet.map((customer) => customer.FullName));
  }
  const { ReportRet } = await books.execute({ AgingReportQueryRq: { AgingReportType: "ARAgingSummary" } });
  const row: number | undefined = ReportRet.ReportData?.DataRow?.[0]?.["@rowNumber"];
  return row ? found : [];
}

export async function sell(books: Client, yesterday: Date): Promise<string> {
  const ada = await books.customers.ensure({ Name: "Ada Ltd", Email: "ada@example.com" });
  const outcome: "created" | "found" | "updated" | "unchanged" = ada["@outcome"];
  const job = await books.customers.create({ Name: "Kitchen", ParentRef: ada }, { idempotencyKey: outcome });
  const item = await books.items.find("Bread");
  const line: requests.InvoiceLineAdd = { ItemRef: item ?? "Bread", Quantity: 2 };
  const invoice = await books.invoices.create(
    { CustomerRef: job, TxnDate: "2026-01-01", lines: [line, { ItemRef: { FullName: "Bread" }, Rate: "1.5" }] },
    { ifExists: "return", idempotencyKey: "order-1042" },
  );
  for await (const one of books.customers.list({ ActiveStatus: "All", modifiedSince: yesterday }, { pageSize: 10 })) {
    console.log(one.Name);
  }
  const changes: resources.InvoiceChanges = { Memo: "m", removeLines: ["1"], lines: [{ TxnLineID: "2", Quantity: 3 }] };
  await books.invoices.update(invoice.TxnID, changes);
  const routed = await books.customers.update(ada.ListID, { customFields: { Route: null, Area: "North" } });
  const areas: Record<string, string> | undefined = routed.customFields;
  console.log(areas, (await books.items.get("1", { customFields: true })).customFields?.Route);
  console.log((await books.invoices.void(invoice.TxnID)).TxnID);
  console.log((await books.customers.delete(ada.ListID, { timeout: 3 })).ListID);
  const batch = books.batch("order-1042");
  const step = batch.customers.ensure({ Name: "Bob" });
  const last = batch.invoices.create({ CustomerRef: step, lines: [{ ItemRef: "Bread" }] }, { ifExists: "return" });
  await batch.execute();
  try {
    await books.vehicles.list().next();
  } catch (error) {
    if (error instanceof StillQueued) console.log(error.id);
    if (error instanceof Conflict) console.log(error.changes.map(({ field, theirs, ours }) => [field, theirs, ours]));
  }
  const report: ReportTable = await books.reports.profitAndLoss({ FromReportDate: "2026-01-01" }, { timeout: 60 });
  await books.reports.customSummary({ SummarizeColumnsBy: "Month", SummarizeRowsBy: "Account" });
  console.log(report.title, report.total?.cells.TOTAL, report.asObjects("data").length);
  const discarded: records.QueuedRequest = await books.api.discardQueuedRequest("1", { dependants: true });
  const { data } = await books.api.listQueuedRequests({ state: "waiting", ids: ["1"] });
  return last.result.InvoiceRet.TxnID + discarded.id + data.length;
}

export async function copy(books: Client): Promise<void> {
  const subscription = await books.api.createSubscription({ objects: ["Customer", "Invoice"] });
  const cursor = { load: () => undefined, store: () => {} };
  for await (const change of books.changes(cursor, { subscriptionId: subscription.id })) {
    if (change.type === "record.changed") {
      if (change.object === "Invoice") console.log(change.record?.RefNumber, change.record?.InvoiceLineRet?.length);
      const invoice: responses.InvoiceRet | null | undefined = change.object === "Invoice" ? change.record : null;
      console.log(invoice?.TxnID, change.sequence, change.generation);
    } else if (change.type === "record.deleted") console.log(change.object, change.id, change.sequence);
    else if (change.type === "subscription.snapshot_completed") console.log(change.sequence, change.records);
    else if (change.type === "subscription.resync_required") await books.api.resyncSubscription(subscription.id);
  }
}

export async function receive(headers: Headers, body: Uint8Array): Promise<string> {
  try {
    const event = await verify("whsec_", headers, body);
    if (event.type === "connection.stalled") return event.occurred_at;
    if (event.type === "queued_request.completed") return event.result ? event.state satisfies "completed" : "";
    return event.type === "queued_request.failed" ? event.error?.code ?? "" : event.id;
  } catch (error) {
    return error instanceof StillWaiting ? error.record.id : "";
  }
}
`;

const WRONG = {
  "the name of the request": 'books.execute({ CustomrAddRq: { CustomerAdd: { Name: "Ada" } } })',
  "the name of an element": 'books.execute({ CustomerAddRq: { CustomerAdd: { Nam: "Ada" } } })',
  "a missing element": 'books.execute({ CustomerAddRq: { CustomerAdd: { Phone: "12" } } })',
  "an amount that is a number": 'books.execute({ CustomerAddRq: { CustomerAdd: { Name: "Ada", OpenBalance: 1.5 } } })',
  "a value that the enumeration does not have": 'books.execute({ CustomerQueryRq: { ActiveStatus: "Some" } })',
  "two requests": "books.execute({ CustomerQueryRq: {}, VendorQueryRq: {} })",
  "no request": "books.execute({})",
  "an object of another request": "(await books.execute({ CustomerQueryRq: {} })).VendorRet",
  "an element of the result": "(await books.execute({ CustomerQueryRq: {} })).CustomerRet[0]!.Fullname",
  "a query that cannot iterate": "books.iterate({ CompanyQueryRq: {} })",
  "a request of a batch": 'books.batch().add({ CustomrAddRq: { CustomerAdd: { Name: "Ada" } } })',
  "the result of an entry": "books.batch().add({ CustomerQueryRq: {} }).result.VendorRet",
  "an object of another change":
    'for await (const one of books.changes({ load: () => "", store: () => {} })) if (one.type === "record.changed" && one.object === "Customer") one.record.RefNumber',
  "an option": 'books.execute({ CustomerQueryRq: {} }, { idempotencykey: "1" })',
  "a member that not all webhooks have": '(await verify("", {}, "")).occurred_at',
};

/** Wrong calls of resources and of routes, and the one message for each. */
const CALLS = {
  'books.customers.create({ Nam: "Ada", Name: "x" })': "'Nam' does not exist in type 'CustomerFields'",
  "books.customers.create({ Name: 3 })": "Type 'number' is not assignable to type 'Text'",
  'books.customers.create({ Phone: "3" })': "Property 'Name' is missing in type '{ Phone: string; }' but required in",
  "books.customers.create()": "Expected 1-2 arguments, but got 0",
  'books.customers.create({ Name: "x" }, { idempotencykey: "x" })': "Did you mean to write 'idempotencyKey'?",
  'books.customers.create({ Name: "x", OpenBalance: 1.5 })': "Type 'number' is not assignable to type 'Money",
  'books.customerz.create({ Name: "x" })': "'customerz' does not exist on type 'Client'. Did you mean 'customers'?",
  'books.accounts.void("x")': "Property 'void' does not exist on type 'Accounts'",
  'books.invoices.create({ CustomerRef: await books.invoices.get("1") })': "Type 'InvoiceRead' is not assignable to",
  'books.invoices.create({ CustomerRef: { FulName: "x" } })': "'FulName' does not exist in type",
  'books.invoices.create({ CustomerRef: "x", lines: [{ ItemRf: "x" }] })':
    "'ItemRf' does not exist in type 'InvoiceLine",
  'books.invoices.create({ CustomerRef: "x", lines: [{ Rate: 1.5 }] })':
    "Type 'number' is not assignable to type 'Money",
  'books.customers.list({ ActiveStatus: "Some" })': `Type '"Some"' is not assignable to type`,
  "books.customers.list({}, { pagesize: 3 })": "Did you mean to write 'pageSize'?",
  '(await books.customers.get("x")).Nam': "Property 'Nam' does not exist on type 'CustomerRead'",
  'books.customers.create({ Name: "x", customFields: { Route: 3 } })':
    "Type 'number' is not assignable to type 'string'",
  'books.customers.create({ Name: "x", customFields: { Route: null } })':
    "Type 'null' is not assignable to type 'string'",
  'books.customers.get("x", { customFields: "Route" })': "Type 'string' is not assignable to type 'boolean",
  'books.accounts.get("x", { customFields: true })': "'customFields' does not exist in type 'ReadOptions'",
  'books.accounts.update("x", { customFields: {} })': "'customFields' does not exist in type 'Omit<AccountMod",
  '(await books.customers.find("x")).Name': "Object is possibly 'undefined'",
  'books.invoices.update("1", { EditSequence: "2" })': "'EditSequence' does not exist in type 'InvoiceChanges'",
  'books.invoices.update("1")': "Expected 2-3 arguments, but got 1",
  "books.reports.profitAndLos()": "'profitAndLos' does not exist on type 'Reports'. Did you mean 'profitAndLoss'?",
  'books.reports.profitAndLoss({ FromReportDat: "2026-01-01" })': "'FromReportDat' does not exist in type",
  "books.reports.profitAndLoss({ FromReportDate: 1 })": "Type 'number' is not assignable to type 'Text",
  "books.reports.customSummary({})": "is missing the following properties from type 'CustomSummaryReportFilters'",
  "books.reports.customSummary()": "Expected 1-2 arguments, but got 0",
  'books.api.discardQueuedReques("1")': "does not exist on type 'Api'. Did you mean 'discardQueuedRequest'?",
  "books.api.discardQueuedRequest()": "Expected 1-2 arguments, but got 0",
  'books.api.listQueuedRequests({ stat: "waiting" })': "'stat' does not exist in type",
  'books.api.testWebhook({ url: "https://shop.example" })': "'url' does not exist in type 'NewWebhookTest'",
  'books.batch().customers.get("1")': "Property 'get' does not exist on type 'CustomersInBatch'",
  'books.batch().customers.ensure({ Name: "x" }, { ifExists: "fail" })':
    "'ifExists' does not exist in type 'StepOptions'",
};

/** Return a project into which npm has installed the client from its folder. */
function project(files) {
  const folder = mkdtempSync(join(tmpdir(), "client-"));
  const repository = join(folder, "repository");
  for (const path of ["clients/typescript", "src/domain/qbxml/schema/data", "docs/openapi.json"]) {
    cpSync(join(REPOSITORY, path), join(repository, path), { recursive: true });
  }
  rmSync(join(repository, "clients", "typescript", "src", "schema"), { recursive: true, force: true });
  const user = join(folder, "user");
  mkdirSync(user);
  writeFileSync(join(user, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  const install = ["install", "--silent", "--offline", "--no-audit", "--no-fund", "--no-package-lock"];
  execFileSync("npm", [...install, join(repository, "clients", "typescript")], { cwd: user });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(user, name), text);
  return { folder, user, repository };
}

/** Return a function that calls another one when it is first called. */
function once(make) {
  let made;
  return () => (made ??= make());
}

const compile = (folder, ...files) =>
  spawnSync(process.execPath, [TSC, ...OPTIONS, ...files], { cwd: folder, encoding: "utf8" }).stdout;

const wrong = Object.values(WRONG).map((line, index) => [
  `wrong_${index}.ts`,
  `import { type Client, verify } from "qbxml-queue";\nexport const use = async (books: Client) => {\n  ${line};\n};\n`,
]);
const calls = Object.keys(CALLS);
const CALLING = `import type { Client } from "qbxml-queue";
export const use = async (books: Client) => {
${calls.map((call) => `  void (${call});\n`).join("")}};
`;

/** Return what tsc says about the right programs and the wrong ones. It needs seconds, so it is asked once. */
const said = once(() => {
  const { folder, user } = project({ "right.ts": RIGHT, "calls.ts": CALLING, ...Object.fromEntries(wrong) });
  const output = compile(user, "right.ts", "calls.ts", ...wrong.map(([name]) => name));
  rmSync(folder, { recursive: true });
  return output;
});

test("right programs compile with --strict, and each wrong one does not", { skip }, () => {
  const reported = [...said().matchAll(/^(wrong_\d+\.ts)\(3,\d+\): error/gm)].map(([, name]) => name);

  assert.deepEqual([...new Set(reported)].sort(), wrong.map(([name]) => name).sort(), said());
  assert.doesNotMatch(said(), /right\.ts/);
  assert.match(said(), /'Nam' does not exist in type 'CustomerAdd'/);
});

test("each wrong call of a resource, and of a route, has one precise message", { skip }, () => {
  const errors = [...said().matchAll(/^calls\.ts\((\d+),\d+\): error TS\d+: (.*(?:\n .*)*)/gm)];

  assert.deepEqual(
    errors.map(([, line]) => Number(line)),
    calls.map((_, index) => index + 3),
    said(),
  );
  const missing = Object.values(CALLS).filter((expected, index) => !errors[index][2].includes(expected));
  assert.deepEqual(missing, [], said());
});

test("the webhook handler has the types of Express, with each way to find modules", { skip }, () => {
  const shop = `
import express from "express";
import type { Event } from "qbxml-queue";
import { webhook } from "qbxml-queue/express";

const app = express();
const store = async (event: Event, id: string) => console.log(id, event.type === "connection.stalled" && event.name);
app.post("/", webhook("whsec_", store));
app.post("/", webhook("whsec_", (event, id) => console.log(id, event.type), { maxBytes: 9 }));
`;
  const { folder, user } = project({
    "right.ts": shop,
    "right.cts": shop,
    "wrong.ts": shop.replace("id, event.type)", "id, event.tpe)"),
  });
  symlinkSync(join(dirname(TSC), "..", "..", "@types"), join(user, "node_modules", "@types"));

  const recent = compile(user, "--skipLibCheck", "right.ts", "right.cts", "wrong.ts");
  const older = ["--module", "commonjs", "--moduleResolution", "node10", "--esModuleInterop"];
  const old = compile(user, "--skipLibCheck", ...older, "right.ts");

  assert.match(recent, /^wrong\.ts/m);
  assert.doesNotMatch(recent, /right/);
  assert.doesNotMatch(old, /right/);
  rmSync(folder, { recursive: true });
});

test(
  "the samples of the console compile, and the API reference names the methods of the client",
  { skip },
  async () => {
    await import("../../../tests/console/browser.mjs");
    const { calls } = await import("../../../tests/console/sample_bodies.mjs");
    const { clientCalls } = await import("../../../src/console/lib/code_samples.js");
    const samples = (await calls()).map(({ samples: { typescript } }, index) => [`sample_${index}.ts`, typescript]);
    const [, first] = samples[0];
    const wrong = first.replace("createQueuedRequest(", "createQueuedRequest(1, ");
    const { folder, user } = project({ ...Object.fromEntries(samples), "wrong.ts": wrong });
    symlinkSync(join(dirname(TSC), "..", "..", "@types"), join(user, "node_modules", "@types"));

    const output = compile(user, "--skipLibCheck", "wrong.ts", ...samples.map(([name]) => name));

    assert.doesNotMatch(output, /sample_/);
    assert.match(output, /^wrong\.ts/m);
    rmSync(folder, { recursive: true });
    const { paths } = JSON.parse(readFileSync(join(REPOSITORY, "docs", "openapi.json"), "utf8"));
    const named = Object.entries(paths).flatMap(([path, item]) =>
      Object.values(item).flatMap((one) => (one.operationId ? clientCalls(path, one).typescript : [])),
    );
    const known = Object.entries(ROUTES).map(([name, { ids, body }]) => {
      const given = [...ids, ...(body ? ["body"] : [])];
      return `books.api.${name}(${given.join(", ")})`;
    });
    assert.deepEqual(named.sort(), known.sort());
  },
);

/** What an editor says about a name in a program: a part of it. */
const HINTS = {
  'create({ Name: "x"': "At most 41 characters.",
  'update("1", { Notes': "At most 4095 characters. Since QBXML 3.0.",
  "lines: [{ Desc": "At most 4095 characters.",
  modifiedSince: "The same as FromModifiedDate.",
  idempotencyKey: "Names the cause of the write",
  pageSize: "From 1 to 100. 20 by default.",
  ensure: "Add one if its name",
  "api.list": "GET /api/v1/connections/{connectionId}/queued_requests",
};
const HINTED = `import type { Client } from "qbxml-queue";
declare const books: Client;
books.customers.create({ Name: "x" });
books.customers.update("1", { Notes: "x" });
books.customers.list({ modifiedSince: "2026-01-01" });
books.invoices.create({ CustomerRef: "x", lines: [{ Desc: "x" }] }, { idempotencyKey: "x" });
books.customers.ensure({ Name: "x" });
books.api.listQueuedRequests({ pageSize: 3 });
`;

test("an editor shows what a method does, and the limits of each field", { skip }, () => {
  const ts = createRequire(import.meta.url)(join(dirname(TSC), "..", "lib", "typescript.js"));
  const { folder, user } = project({ "hinted.ts": HINTED });
  const file = join(user, "hinted.ts");
  const { options } = ts.convertCompilerOptionsFromJson(
    { module: "nodenext", target: "es2022", lib: ["es2022"] },
    user,
  );
  const service = ts.createLanguageService({
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    getCompilationSettings: () => options,
    getCurrentDirectory: () => user,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [file],
    getScriptSnapshot: (name) => ts.sys.fileExists(name) && ts.ScriptSnapshot.fromString(ts.sys.readFile(name)),
    getScriptVersion: () => "1",
  });

  for (const [text, expected] of Object.entries(HINTS)) {
    const name = text.match(/\w+(?=(?:: "x")?$)/)[0];
    const place = HINTED.indexOf(text) + text.lastIndexOf(name) + 1;
    const info = service.getQuickInfoAtPosition(file, place);
    const said = ts.displayPartsToString(info.documentation);
    assert.ok(said.includes(expected), `${text}: ${said}`);
  }
  rmSync(folder, { recursive: true });
});

test("a package has the types and needs no repository", () => {
  const { folder, repository } = project({});

  const pack = ["pack", "--silent", "--offline", "--pack-destination", folder];
  const archive = execFileSync("npm", pack, {
    cwd: join(repository, "clients", "typescript"),
    encoding: "utf8",
  }).trim();
  const listed = execFileSync("tar", ["-tzf", join(folder, archive.split("\n").at(-1))], { encoding: "utf8" });

  for (const name of [
    "index.js",
    "index.d.ts",
    "express.js",
    "express.d.ts",
    "files.js",
    "files.d.ts",
    "secrets.js",
    "resources.js",
    "schema/facts.js",
  ]) {
    assert.ok(listed.includes(`package/src/${name}\n`), listed);
    assert.ok(listed.includes(`package/commonjs/${name}\n`), listed);
  }
  for (const name of ["values.d.cts", "schema/requests.d.cts", "schema/resources.d.cts"]) {
    assert.ok(listed.includes(`package/src/${name}\n`), listed);
  }
  assert.ok(listed.includes("package/LICENSE\n"), listed);
  assert.deepEqual(readFileSync(join(CLIENT, "LICENSE")), readFileSync(join(REPOSITORY, "LICENSE")));
  rmSync(folder, { recursive: true });
});

test("a CommonJS program gets the same names", () => {
  const names = 'Object.keys({ ...client, ...express, ...files }).sort().join(" ")';
  const { folder, user } = project({
    "old.cjs": `const client = require("qbxml-queue");\nconst express = require("qbxml-queue/express");\nconst files = require("qbxml-queue/files");\nconsole.log(${names}, new client.Client("https://queue.example", "sk_1", "c1").constructor.name);\n`,
    "new.mjs": `import * as client from "qbxml-queue";\nimport * as express from "qbxml-queue/express";\nimport * as files from "qbxml-queue/files";\nconsole.log(${names}, "Client");\n`,
  });

  const [old, recent] = ["old.cjs", "new.mjs"].map((name) =>
    execFileSync(process.execPath, [name], { cwd: user, encoding: "utf8" }),
  );

  assert.equal(old, recent);
  assert.match(old, /\bFileCursor\b.*\bQuickBooksError\b.*\bverify webhook\b/);
  rmSync(folder, { recursive: true });
});

test("a CommonJS program has the same types", { skip }, () => {
  const wrong = RIGHT.replace('"order-7", timeout', '"order-7", timeuot');
  const { folder, user } = project({ "right.cts": RIGHT, "wrong.cts": wrong });

  const output = compile(user, "right.cts", "wrong.cts");

  assert.doesNotMatch(output, /right\.cts/);
  assert.match(output, /^wrong\.cts.*timeuot/m);
  rmSync(folder, { recursive: true });
});

test("a form of import or export that CommonJS would not get is refused", async () => {
  const { commonJs } = await import("../generate.mjs");
  const module = 'import { a } from "./a.js";\nexport const b = a;\nexport async function c() {}\nexport class D {}\n';

  assert.equal(
    commonJs(module),
    '"use strict";\nconst { a } = require("./a.js");\nconst b = a;\nasync function c() {}\nclass D {}\n\nmodule.exports = { b, c, D };\n',
  );
  for (const line of [
    'import a from "./a.js";',
    "export default a;",
    "export { a };",
    "a(import.meta.url);",
    'await import("./a.js");',
  ]) {
    assert.throws(() => commonJs(`${line}\n`), /cannot write this as CommonJS/);
  }
});

test("the client itself matches its declarations", { skip }, () => {
  const output = compile(
    CLIENT,
    "--allowJs",
    "--checkJs",
    "--typeRoots",
    join(dirname(TSC), "..", "..", "@types"),
    "--types",
    "node",
    "--skipLibCheck",
    "src/index.js",
    "src/index.d.ts",
    "src/express.js",
    "src/express.d.ts",
    "src/files.js",
    "src/files.d.ts",
    "src/schema/requests.d.cts",
  );

  assert.equal(output, "");
});

test("the files are those that the sources generate now", async () => {
  const { main } = await import("../generate.mjs");
  const folder = mkdtempSync(join(tmpdir(), "schema-"));

  main(folder);

  for (const name of readdirSync(folder)) {
    const installed = readFileSync(join(CLIENT, "src", "schema", name), "utf8");
    assert.ok(readFileSync(join(folder, name), "utf8") === installed, `${name} is older than its sources`);
  }
  rmSync(folder, { recursive: true });
});

test("all 232 requests and their results have a type", () => {
  const names = JSON.parse(readFileSync(join(REPOSITORY, "src/domain/qbxml/schema/data/index.json"), "utf8"));
  const [requests, responses] = ["requests", "responses"].map((name) =>
    readFileSync(join(CLIENT, "src", "schema", `${name}.d.cts`), "utf8"),
  );

  assert.equal(names.length, 232);
  for (const name of names) {
    assert.ok(requests.includes(`export interface ${name} {`) && requests.includes(`  ${name}: ${name};`), name);
    const result = `${name.replace(/Rq$/, "")}Rs`;
    assert.ok(responses.includes(`export interface ${result} {`) && responses.includes(`  ${name}: ${result};`), name);
  }
});
