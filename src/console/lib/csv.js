// Tables as CSV for spreadsheets. A cell never becomes a formula.

/** A spreadsheet takes a cell that begins like this for a formula, even after white space. */
// eslint-disable-next-line no-control-regex -- a NUL counts as white space here
const FORMULA = /^[\s\u0000\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Every cell is quoted, because a spreadsheet may split at other characters than a comma.
 *
 * @param {unknown} value
 */
function cell(value) {
  const text = value === undefined || value === null ? "" : String(value);
  const isSafe = NUMBER.test(text) || !FORMULA.test(text);
  return `"${(isSafe ? text : `'${text}`).replaceAll('"', '""')}"`;
}

/** @param {unknown[]} cells */
export const csvLine = (cells) => `${cells.map(cell).join(",")}\r\n`;

/**
 * Returns CSV (RFC 4180) with a byte order mark, without which Excel does not read UTF-8.
 *
 * @param {string[]} columns
 * @param {unknown[][]} rows
 */
export const toCsv = (columns, rows) => `\ufeff${[columns, ...rows].map(csvLine).join("")}`;

/**
 * Saves a text as a file.
 *
 * @param {string} text
 * @param {string} name
 */
export function download(text, name, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * Saves rows as a file, whose name is that without ".csv".
 *
 * @param {string[]} columns
 * @param {unknown[][]} rows
 * @param {string} name
 */
export const downloadCsv = (columns, rows, name) =>
  download(toCsv(columns, rows), `${name}.csv`, "text/csv;charset=utf-8");
