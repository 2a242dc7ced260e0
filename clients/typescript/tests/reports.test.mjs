// Reports are tables: `books.reports.profitAndLoss(…)`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, test } from "node:test";

import { StillQueued } from "../src/index.js";
import { tableOf } from "../src/reports.js";
import { REPORTS } from "../src/schema/report-names.js";
import { Books, Chance, skip } from "./books.mjs";

const SCHEMA = new URL("../../../src/domain/qbxml/schema/data/", import.meta.url);
const SEEDS = 3;
const TABLES = 100;

const books = skip ? null : new Books();
after(() => books?.close());

test("each report of the schema has a method", () => {
  const names = JSON.parse(readFileSync(new URL("index.json", SCHEMA), "utf8"));
  const inSchema = names
    .filter((name) => name.endsWith("ReportQueryRq"))
    .flatMap((name) => {
      const { content, types } = JSON.parse(readFileSync(new URL(`requests/${name}.json`, SCHEMA), "utf8"));
      return types[content.sequence[0][2]].filter(Boolean).map((report) => `${name} ${report}`);
    });

  const reports = Object.values(REPORTS).map(([request, report]) => `${request}QueryRq ${report}`);
  assert.equal(reports.length, 93);
  assert.deepEqual(reports.sort(), inSchema.sort());
  assert.deepEqual(
    Object.keys(REPORTS).filter((name) => !/^[a-z][A-Za-z]*[0-9]*$/.test(name)),
    [],
  );
});

test("the service reads the requests of reports, with the filters that they were given", { skip }, async () => {
  const client = await books.open();
  await books.do("set", { closed: true });
  for (const request of new Set(Object.values(REPORTS).map(([one]) => one))) {
    const names = Object.keys(REPORTS).filter((name) => REPORTS[name][0] === request);
    for (let seed = 0; seed < SEEDS; seed++) {
      const name = new Chance(seed).choice(names);
      const asked = { request: `${request}QueryRq`, seed: `${request} ${seed}`, share: 0.4 };
      const expected = { ...(await books.do("content", asked)), [`${request}Type`]: REPORTS[name][1] };
      const { ReportPeriod: period = {}, ...filters } = expected;
      delete filters[`${request}Type`];

      await assert.rejects(client.reports[name]({ ...filters, ...period }, { timeout: 0 }), StillQueued);

      assert.ok(await books.do("awaits", { request: { [`${request}QueryRq`]: expected } }), JSON.stringify(expected));
    }
  }
});

test("a table has the cells that QuickBooks wrote, in their order, under different names", () => {
  for (let seed = 0; seed < TABLES; seed++) {
    const chance = new Chance(seed);
    const ids = Array.from({ length: chance.number(1, 6) }, (_, index) => String(index + 1));
    const titles = ids.map(() => chance.choice([[], ["A"], ["A"], ["B", "C"]]));
    const columns = ids.map((id, index) => ({
      "@colID": id,
      "@dataType": "AMTTYPE",
      ColTitle: titles[index].map((value, row) => ({ "@titleRow": String(row + 1), "@value": value })),
      ColType: chance.choice(["Amount", "Label"]),
    }));
    const kinds = ["DataRow", "TextRow", "SubtotalRow", "TotalRow"];
    const rows = Array.from({ length: chance.number(0, 20) }, (_, index) => {
      const kind = chance.choice(kinds);
      const cells = ids.map(() => (kind === "TextRow" || chance.next() < 0.3 ? null : `${chance.number(0, 99)}.50`));
      if (kind === "TextRow") cells[0] = `Heading ${index}`;
      return { kind, cells, about: kind === "DataRow" && chance.next() < 0.5 ? `x:${index}` : undefined };
    });
    const data = Object.fromEntries(kinds.map((kind) => [kind, []]));
    for (const [index, { kind, cells, about }] of chance.shuffled([...rows.entries()])) {
      const written = cells.map((value, column) => ({ "@colID": ids[column], "@value": value }));
      data[kind].push({
        "@rowNumber": index + 1,
        ...(about ? { RowData: { "@rowType": "account", "@value": about } } : {}),
        ...(kind === "TextRow" ? { "@value": cells[0] } : { ColData: written.filter((one) => one["@value"] !== null) }),
      });
    }

    const table = tableOf({ ReportTitle: "T", ReportSubtitle: "S", ColDesc: columns, ReportData: data });

    const types = { DataRow: "data", TextRow: "text", SubtotalRow: "subtotal", TotalRow: "total" };
    const names = table.columns.map(({ name }) => name);
    assert.equal(new Set(names).size, ids.length);
    assert.deepEqual(
      table.columns.map(({ title }) => title),
      titles.map((title) => title.join(" ")),
    );
    assert.deepEqual(
      table.rows.map(({ type, values, objectType, object }) => [type, values, objectType, object]),
      rows.map(({ kind, cells, about }) => [types[kind], cells, about && "account", about]),
    );
    const inColumns = (one) => Object.fromEntries(names.map((name, index) => [name, one.cells[index]]));
    assert.deepEqual(table.asObjects(), rows.filter(({ kind }) => kind === "DataRow").map(inColumns));
    assert.deepEqual(table.asObjects("text", "data"), rows.filter(({ kind }) => /Data|Text/.test(kind)).map(inColumns));
    assert.deepEqual(table.total?.values, rows.filter(({ kind }) => kind === "TotalRow").at(-1)?.cells);
    assert.deepEqual(
      table.rows.map(({ label }) => label),
      rows.map(({ cells }) => cells[0] ?? ""),
    );
  }
});

test("a report without rows or columns is an empty table", () => {
  const { rows, columns, total, title } = tableOf({});

  assert.deepEqual([rows, columns, total, title], [[], [], undefined, ""]);
});

test("the reports of a company add up", { skip }, async () => {
  const client = await books.open();

  const aging = await client.reports.arAgingSummary();
  const result = await client.reports.profitAndLoss({ FromReportDate: "2020-01-01", ToReportDate: "2027-12-31" });

  const cents = (text) => Math.round(Number(text) * 100);
  assert.equal(aging.title, "A/R Aging Summary");
  assert.equal(
    cents(aging.total.cells.TOTAL),
    aging.asObjects().reduce((sum, row) => sum + cents(row.TOTAL), 0),
  );
  assert.equal(result.total.label, "Net Income");
});

test("a report that waits is resumed by the same call", { skip }, async () => {
  const client = await books.open();
  await books.do("set", { closed: true });
  for (let time = 0; time < 2; time++) {
    await assert.rejects(client.reports.trialBalance({}, { timeout: 5 }), StillQueued);
  }
  await books.do("set", { closed: false });

  assert.equal((await client.reports.trialBalance()).title, "Trial Balance");
  assert.equal((await books.do("state")).records, 1);
});

test("what a report does not have is named", { skip }, async () => {
  const client = await books.open();
  const both = { FromReportDate: "2026-01-01", ReportPeriod: {} };

  await assert.rejects(client.reports.journal(both), /ReportPeriod .* given too/);
  await assert.rejects(client.reports.journal({}, { time_out: 3 }), /Did you mean timeout/);
  await assert.rejects(client.reports.journal("2026"), /filters of journal must be an object/);
  assert.equal((await books.do("state")).records, 0);
});
