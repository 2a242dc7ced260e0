// The results of a response as tables: the objects of a kind (CustomerRet, InvoiceRet, …), and reports (ReportRet).
import { plural } from "./text.js";

const REPORT = "ReportRet";
/**
 * The lists inside an object that have a row of the CSV for each entry. Other lists, such as contacts, stay in a cell.
 */
const LINES = /Line(Group)?(Ret)?$|AppliedToTxnRet$|PerItemRet$/;
const TECHNICAL = new Set([
  "EditSequence",
  "TimeCreated",
  "TimeModified",
  "ListID",
  "TxnID",
  "TxnLineID",
  "ARAccountRef",
  "TemplateRef",
  "Sublevel",
  "ExternalGUID",
  "TxnNumber",
]);
const ROW_TYPES = { TextRow: "Heading", DataRow: "Data", SubtotalRow: "Subtotal", TotalRow: "Total" };
const NUMBER_TYPE = /^(AMT|INT|PERCENT|PRICE|QUAN)TYPE$/;
/** The rows that decide whether a column of objects has amounts. */
const SAMPLE = 20;

/**
 * @param {unknown} value
 * @returns {value is Record<string, any>}
 */
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
/**
 * @param {string} name
 * @param {unknown} value
 */
export const isLines = (name, value) => LINES.test(name) && listOf(value).some(isObject);
/**
 * @template One
 * @param {One | One[] | undefined} value
 * @returns {One[]}
 */
export const listOf = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

/**
 * Returns the maximum of a query that its response has reached, or null. Then QuickBooks may have more objects. All
 * pages of an iterated query together are complete.
 *
 * @param {{request_json?: any, response_json?: any}} record
 */
export function reachedMaximum({ request_json: json, response_json: response }) {
  const { attributes, children } = json?.request ?? {};
  const maximum = Number(children?.find(({ name }) => name === "MaxReturned")?.text);
  if (!maximum || attributes?.iterator) return null;
  const number = resultsOf(response).reduce((sum, [name, rows]) => sum + (name === REPORT ? 0 : rows.length), 0);
  return number === maximum ? maximum : null;
}

/** What limits a query to objects that were changed in a range of time. */
const BY_CHANGE = /^(From|To)ModifiedDate$|ModifiedDateRangeFilter$/;

/**
 * Returns the columns that a query makes important: the time of the change if it asks for what has changed.
 *
 * @param {{request_json?: any}} record
 * @returns {string[]}
 */
export const wantedColumns = ({ request_json: json }) =>
  json?.request?.children?.some(({ name }) => BY_CHANGE.test(name)) ? ["TimeModified"] : [];

/**
 * Returns what people call the only object in a response: its name, or its customer and number. Without one, "".
 *
 * @param {any[][]} results
 */
export function nameIn(results) {
  if (results.length !== 1 || results[0][0] === REPORT || results[0][1].length !== 1) return "";
  const [one] = results[0][1];
  const names = [one.FullName ?? one.Name, one.CustomerRef?.FullName, one.RefNumber];
  return names.filter((name) => typeof name === "string" && name).join(" · ");
}

/** Whether a response has one object, and this has lines. */
export const isOneWithLines = (results) =>
  results.length === 1 &&
  results[0][1].length === 1 &&
  Object.entries(results[0][1][0]).some(([name, value]) => isLines(name, value));

/** Returns `[[name, rows]…]`: the objects of a response by kind, and each report as the only row of its own. */
export function resultsOf(responseJson) {
  const found = [];
  for (const set of responseJson ?? []) {
    for (const answer of Object.values(set.QBXMLMsgsRs ?? {})) {
      for (const one of listOf(answer)) {
        for (const [name, value] of Object.entries(one ?? {})) {
          const rows = listOf(value);
          if (name.startsWith("@") || !name.endsWith("Ret") || !isObject(rows[0])) continue;
          if (name === REPORT) found.push(...rows.map((report) => [name, [report]]));
          else found.push([name, rows]);
        }
      }
    }
  }
  return found;
}

/** Returns the name of a result for people: the kind of its objects, or the title of its report. */
export const resultTitle = ([name, rows]) => (name === REPORT && leafText(rows[0].ReportTitle)) || name;

/**
 * Returns the text of a value without parts.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function leafText(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return isObject(value) ? leafText(value["#text"]) : String(value);
}

/**
 * Returns a result as the screen shows it: `{about, hasLines, columns: [{key, title, isNumber}], rows, cell(row, key),
 * isStrong(row)}`. The `wanted` columns follow the first one.
 */
export const tableOf = ([name, rows], wanted = []) =>
  name === REPORT ? reportTable(rows[0]) : objectTable(rows, wanted);

// --- Objects -----------------------------------------------------------------------------------------------------

/**
 * @param {any[]} rows
 * @param {string[]} wanted
 */
function objectTable(rows, wanted) {
  // An object that has a field of its own can be the last one.
  const names = new Set();
  let hasLines = false;
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      names.add(name);
      hasLines ||= isLines(name, value);
    }
  }
  const sample = rows.slice(0, SAMPLE);
  const isNumber = (name) =>
    sample.some((row) => row[name] !== undefined) &&
    sample.every((row) => row[name] === undefined || /^-?\d+\.\d+$/.test(row[name]));
  const [first, ...others] = inOrder(names);
  const isWanted = (name) => wanted.includes(name);
  const ordered = [first, ...others.filter(isWanted), ...others.filter((name) => !isWanted(name))];
  return {
    about: plural(rows.length, "object"),
    hasLines,
    columns: ordered.map((name) => ({ key: name, title: name, isNumber: isNumber(name) })),
    rows,
    cell: (row, name) => screenText(row[name]),
    isStrong: () => false,
  };
}

/**
 * Sorts names of columns, which can be paths: "InvoiceLineRet.Quantity".
 *
 * @param {Iterable<string>} paths
 */
export const inOrder = (paths) => [...paths].sort((one, other) => rank(one) - rank(other));

/**
 * Lines come after the fields that identify an object, and then addresses and flags. Technical fields come last.
 *
 * @param {string} path
 */
function rank(path) {
  const names = path.split(".");
  if (names.some((name) => TECHNICAL.has(name))) return 3;
  if (names.some((name) => /^Is[A-Z]|Address|Block$/.test(name))) return 2;
  return LINES.test(names[0]) ? 1 : 0;
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function screenText(value) {
  if (Array.isArray(value))
    return isObject(value[0]) ? plural(value.length, "entry", "entries") : value.map(leafText).join(", ");
  if (isObject(value))
    return (
      value.FullName ??
      Object.entries(value)
        .filter(([name]) => !name.startsWith("@"))
        .map(([, part]) => screenText(part))
        .filter(Boolean)
        .join(", ")
    );
  return leafText(value);
}

// --- Reports -----------------------------------------------------------------------------------------------------

/**
 * Besides the members of a table, each row has `type`, and `object` if it is about one: `{type: "account", name:
 * "Sales"}`.
 */
function reportTable(report) {
  const columns = new Map(listOf(report.ColDesc).map((column) => [column["@colID"], columnOf(column)]));
  const rows = [];
  for (const [kind, value] of Object.entries(report.ReportData ?? {})) {
    for (const row of listOf(value).filter(isObject)) {
      const texts = new Map(listOf(row.ColData).map((one) => [one["@colID"], leafText(one["@value"] ?? one)]));
      for (const id of texts.keys())
        if (!columns.has(id)) columns.set(id, { key: id, title: `Column ${id}`, isNumber: false });
      const { "@rowType": type, "@value": name } = isObject(row.RowData) ? row.RowData : {};
      rows.push({
        number: Number(row["@rowNumber"]) || 0,
        type: ROW_TYPES[kind] ?? kind,
        heading: row["@value"],
        texts,
        object: { type, name },
      });
    }
  }
  if (columns.size === 0) columns.set("1", { key: "1", title: "Label", isNumber: false });
  const [first] = columns.keys();
  return {
    about: [report.ReportTitle, report.ReportSubtitle, report.ReportBasis].map(leafText).filter(Boolean).join(" · "),
    hasLines: false,
    columns: [...columns.values()],
    // The JSON has the rows by type.
    rows: rows.sort((one, other) => one.number - other.number),
    cell: ({ heading, texts }, id) => texts.get(id) ?? (id === first ? leafText(heading) : ""),
    isStrong: ({ type }) => type !== "Data",
  };
}

/** A title can have several rows: "Jan 26" above "Amount". */
function columnOf(column) {
  const titles = listOf(column.ColTitle)
    .map((one) => one["@value"])
    .filter(Boolean);
  return {
    key: column["@colID"],
    title: titles.join(" ") || leafText(column.ColType) || `Column ${column["@colID"]}`,
    isNumber: NUMBER_TYPE.test(column["@dataType"]),
  };
}
