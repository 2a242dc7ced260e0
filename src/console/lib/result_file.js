// A result as a CSV file with all its contents.
//
// A file of objects has a row for each line of an object, such as the lines of an invoice, and repeats the other fields
// in each of these rows. Its columns are the paths of the fields: "BillAddress.City", "InvoiceLineRet.Quantity". Lists
// that are not lines are written out in one cell.

import { csvLine, download } from "./csv.js";
import { inOrder, isLines, isObject, leafText, listOf, resultTitle, tableOf } from "./result_rows.js";

const SLICE_MILLISECONDS = 12;
/** Fields that are repeated in many lines can make a large file of a small response. */
export const MAX_MEGABYTES = 50;
const MAX_NAME = 100;

/**
 * Saves a result as a file. Returns false, and saves nothing, if the file would be too large. The name of a file that
 * may be incomplete says so: `lack` is then what it lacks.
 *
 * @param {[string, any[]]} result
 * @param {string | null} lack
 */
export async function saveResult(result, lack = null) {
  const text = await resultCsv(result);
  if (text === null) return false;
  const part = lack && `(incomplete, ${lack})`;
  const name = [resultTitle(result), leafText(result[1][0].ReportSubtitle), part].filter(Boolean).join(" ");
  download(
    text,
    `${name
      .replace(/[^\p{L}\p{N} _,&()-]+/gu, " ")
      .trim()
      .slice(0, MAX_NAME)}.csv`,
    "text/csv;charset=utf-8",
  );
  return true;
}

/**
 * Returns the text of the file, or null if it would be too large.
 *
 * @param {[string, any[]]} result
 */
export async function resultCsv(result) {
  const { columns, rows } = await fileOf(result);
  const lines = [`\ufeff${csvLine(columns)}`];
  let size = 0;
  for await (const row of unhurried(rows)) {
    const line = csvLine(row);
    lines.push(line);
    size += line.length;
    if (size > MAX_MEGABYTES * 1_000_000) return null;
  }
  return lines.join("");
}

/** Yields the items of an iterable. It pauses after each slice of time, so that the page stays responsive. */
async function* unhurried(items) {
  let started = performance.now();
  for (const item of items) {
    if (performance.now() - started > SLICE_MILLISECONDS) {
      await new Promise((resolve) => setTimeout(resolve));
      started = performance.now();
    }
    yield item;
  }
}

/** Returns `{columns, rows}`: titles, and an iterable of arrays of texts. */
const fileOf = async (result) => (result[0] === "ReportRet" ? reportFile(tableOf(result)) : objectFile(result[1]));

function reportFile({ columns, rows, cell }) {
  return {
    columns: [...columns.map(({ title }) => title), "Row type", "Object type", "Object"],
    rows: rows.map((row) => [...columns.map(({ key }) => cell(row, key)), row.type, row.object.type, row.object.name]),
  };
}

/** Reads the objects twice, because the last one can have a column of its own. */
async function objectFile(objects) {
  const paths = new Set();
  let hasLines = false;
  for await (const { parts } of unhurried(fileRows(objects))) {
    hasLines ||= parts.length > 1;
    for (const part of parts) for (const path of part.keys()) paths.add(path);
  }
  const columns = inOrder(paths);
  const places = new Map(columns.map((path, place) => [path, place]));
  return { columns: hasLines ? ["Line", ...columns] : columns, rows: cells() };

  function* cells() {
    for (const { parts, line } of fileRows(objects)) {
      const texts = Array(columns.length).fill("");
      for (const part of parts) for (const [path, text] of part) texts[/** @type {number} */ (places.get(path))] = text;
      yield hasLines ? [line, ...texts] : texts;
    }
  }
}

/**
 * Yields `{parts, line}` for each row: maps of texts by path, the first of the object itself, and the row's number in
 * it.
 */
function* fileRows(objects) {
  for (const object of objects) {
    let line = 0;
    for (const parts of partsOf(object)) yield { parts, line: (line += 1) };
  }
}

/** Yields the maps of each row. A line in a group of lines has the group's fields too. */
function* partsOf(object, path = "", outer = []) {
  const { texts, lists } = contentOf(object, path);
  const parts = [...outer, texts];
  if (lists.length === 0) yield parts;
  for (const [name, lines] of lists) for (const line of lines) yield* partsOf(line, name, parts);
}

/** Returns the texts of an object by path, and its lists of lines. */
function contentOf(object, start) {
  const texts = new Map();
  const lists = [];
  const visit = (value, path) => {
    if (!isObject(value)) {
      // A name with a dot can be the path of another field. Neither is lost.
      texts.set(path, texts.has(path) ? `${texts.get(path)}, ${writtenOut(value)}` : writtenOut(value));
      return;
    }
    for (const [name, part] of Object.entries(value)) {
      // A reference is known by its name, as on the screen.
      const isItsText = path && typeof part !== "object" && (name === "FullName" || name === "#text");
      const below = isItsText ? path : path ? `${path}.${name}` : name;
      if (isLines(name, part)) lists.push([below, listOf(part)]);
      else visit(part, below);
    }
  };
  visit(object, start);
  return { texts, lists };
}

/** Returns all texts of a value in one: "ContactName: Fax, ContactValue: 555 0199; ContactName: …". */
function writtenOut(value) {
  if (Array.isArray(value)) return value.map(writtenOut).join("; ");
  if (isObject(value))
    return Object.entries(value)
      .map(([name, part]) => `${name}: ${writtenOut(part)}`)
      .join(", ");
  return leafText(value);
}
