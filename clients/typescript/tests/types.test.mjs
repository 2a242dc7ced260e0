// What tsc says to users of the client.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

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
import { Client, StillWaiting, verify, type requests, type responses } from "qbxml-queue";

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

export async function receive(headers: Headers, body: Uint8Array): Promise<string> {
  try {
    const event = await verify("whsec_", headers, body);
    if (event.type === "connection.stalled") return event.occurred_at;
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
  "an option": 'books.execute({ CustomerQueryRq: {} }, { idempotencykey: "1" })',
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

const compile = (folder, ...files) =>
  spawnSync(process.execPath, [TSC, ...OPTIONS, ...files], { cwd: folder, encoding: "utf8" }).stdout;

test("right programs compile with --strict, and each wrong one does not", { skip }, () => {
  const wrong = Object.values(WRONG).map((line, index) => [
    `wrong_${index}.ts`,
    `import type { Client } from "qbxml-queue";\nexport const use = async (books: Client) => {\n  ${line};\n};\n`,
  ]);
  const { folder, user } = project({ "right.ts": RIGHT, ...Object.fromEntries(wrong) });

  const output = compile(user, "right.ts", ...wrong.map(([name]) => name));

  const reported = [...output.matchAll(/^(\w+\.ts)\(3,\d+\): error/gm)].map(([, name]) => name);
  assert.deepEqual([...new Set(reported)].sort(), wrong.map(([name]) => name).sort(), output);
  assert.doesNotMatch(output, /right\.ts/);
  assert.match(output, /'Nam' does not exist in type 'CustomerAdd'/);
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

  for (const name of ["index.js", "index.d.ts", "values.d.ts", "schema/requests.d.ts", "schema/facts.js"]) {
    assert.ok(listed.includes(`package/src/${name}\n`), listed);
    assert.ok(listed.includes(`package/commonjs/${name}\n`), listed);
  }
  assert.ok(listed.includes("package/LICENSE\n"), listed);
  assert.deepEqual(readFileSync(join(CLIENT, "LICENSE")), readFileSync(join(REPOSITORY, "LICENSE")));
  rmSync(folder, { recursive: true });
});

test("a CommonJS program gets the same names", () => {
  const names = 'Object.keys(client).sort().join(" ")';
  const { folder, user } = project({
    "old.cjs": `const client = require("qbxml-queue");\nconsole.log(${names}, new client.Client("https://queue.example", "sk_1", "c1").constructor.name);\n`,
    "new.mjs": `import * as client from "qbxml-queue";\nconsole.log(${names}, "Client");\n`,
  });

  const [old, recent] = ["old.cjs", "new.mjs"].map((name) =>
    execFileSync(process.execPath, [name], { cwd: user, encoding: "utf8" }),
  );

  assert.equal(old, recent);
  assert.match(old, /\bQuickBooksError\b.*\bverify\b/);
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
    "src/index.js",
    "src/index.d.ts",
    "src/schema/requests.d.ts",
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
    readFileSync(join(CLIENT, "src", "schema", `${name}.d.ts`), "utf8"),
  );

  assert.equal(names.length, 232);
  for (const name of names) {
    assert.ok(requests.includes(`export interface ${name} {`) && requests.includes(`  ${name}: ${name};`), name);
    const result = `${name.replace(/Rq$/, "")}Rs`;
    assert.ok(responses.includes(`export interface ${result} {`) && responses.includes(`  ${name}: ${result};`), name);
  }
});
