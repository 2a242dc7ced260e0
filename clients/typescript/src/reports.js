// Reports as tables: `books.reports.profitAndLoss(…)`. schema/reports.d.cts has their types.
import { toJson } from "./json.js";
import { OPTIONS, checkOptions } from "./options.js";
import { Begun, readOnce } from "./reading.js";
import { resultOf } from "./results.js";
import { REPORTS } from "./schema/report-names.js";

/** @import { Service, Tree } from "./internal.js" */
/** @import { ReportColumn, ReportRow, ReportTable } from "./methods.cjs" */

/** @type {Record<string, ReportRow["type"]>} */
const ROWS = { DataRow: "data", TextRow: "text", SubtotalRow: "subtotal", TotalRow: "total" };

/** Return a method for each report. @param {Service} service */
export function reportsOf(service) {
  /** @type {Begun<string>} */
  const reads = new Begun();
  const methods = Object.keys(REPORTS).map((name) => [
    name,
    async (/** @type {Tree} */ filters = {}, /** @type {Tree} */ options = {}) => {
      checkOptions(name, options, OPTIONS.report);
      const record = await readOnce(service, reads, requestFor(name, filters), options);
      return tableOf(resultOf(record).ReportRet);
    },
  ]);
  return Object.freeze(Object.fromEntries(methods));
}

/** Return the request for a report. The dates of its period are filters of their own. @param {string} name @param {Tree} given */
function requestFor(name, given) {
  if (typeof given !== "object" || given === null) throw new TypeError(`The filters of ${name} must be an object.`);
  const [request, report] = /** @type {[string, string]} */ (REPORTS[name]);
  const { FromReportDate, ToReportDate, ...filters } = given;
  const hasPeriod = FromReportDate !== undefined || ToReportDate !== undefined;
  if (hasPeriod && "ReportPeriod" in filters) {
    throw new TypeError("ReportPeriod has FromReportDate and ToReportDate, which are given too. Give one of them.");
  }
  const period = hasPeriod ? { ReportPeriod: { FromReportDate, ToReportDate } } : {};
  return { [`${request}QueryRq`]: toJson({ [`${request}Type`]: report, ...period, ...filters }) };
}

/** Return a report, as a response has it, as a table. @param {Tree} report @returns {ReportTable} */
export function tableOf(report) {
  const columns = columnsOf(report.ColDesc ?? []);
  const rows = Object.entries(report.ReportData ?? {})
    .flatMap(([kind, found]) => found.map((/** @type {Tree} */ row) => ({ kind, row })))
    .sort((one, other) => one.row["@rowNumber"] - other.row["@rowNumber"])
    .map(({ kind, row }) => rowOf(/** @type {ReportRow["type"]} */ (ROWS[kind]), row, columns));
  return {
    title: report.ReportTitle ?? "",
    subtitle: report.ReportSubtitle ?? "",
    basis: report.ReportBasis,
    columns: [...columns.values()],
    rows,
    total: rows.filter(({ type }) => type === "total").at(-1),
    asObjects: (...types) =>
      rows.filter(({ type }) => (types.length > 0 ? types.includes(type) : type === "data")).map(({ cells }) => cells),
  };
}

/** Return the columns by their ids. A title of several rows is one text. @param {Tree[]} described */
function columnsOf(described) {
  /** @type {Map<string, ReportColumn>} */
  const columns = new Map();
  const names = new Set();
  for (const { "@colID": id, "@dataType": dataType = "", ColType: type = "", ColTitle = [] } of described) {
    const texts = ColTitle.map((/** @type {Tree} */ line) => line["@value"]);
    const title = texts.filter(Boolean).join(" ");
    let name = title || type;
    for (let number = 2; names.has(name); number++) name = `${title || type} (${number})`;
    names.add(name);
    columns.set(id, { name, title, type, dataType });
  }
  return columns;
}

/** @param {ReportRow["type"]} type @param {Tree} row @param {Map<string, ReportColumn>} columns @returns {ReportRow} */
function rowOf(type, row, columns) {
  const given = new Map((row.ColData ?? []).map((/** @type {Tree} */ cell) => [cell["@colID"], cell["@value"]]));
  const values = [...columns.keys()].map((id) => given.get(id) ?? null);
  if ("@value" in row && values.length > 0) values[0] = row["@value"];
  const names = [...columns.values()].map(({ name }) => name);
  return {
    type,
    cells: Object.fromEntries(names.map((name, index) => [name, values[index]])),
    values,
    label: values[0] ?? "",
    objectType: row.RowData?.["@rowType"],
    object: row.RowData?.["@value"],
  };
}
