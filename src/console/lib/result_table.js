// The objects of a response (CustomerRet, InvoiceRet, …) as a table.
import { html, useState } from "../vendor/preact.js";
import { downloadCsv } from "./csv.js";
import { count, plural } from "./text.js";
import { Button, Pager, Segmented } from "./ui.js";

const ROWS = 50;
const FEW_COLUMNS = 8;
const SAMPLE = 200;
const MAX_SEGMENTS = 3;
const TECHNICAL = new Set(["EditSequence", "TimeCreated", "TimeModified", "ListID", "TxnID", "ARAccountRef", "TemplateRef", "Sublevel", "ExternalGUID", "TxnNumber"]);

/** Returns `[[name, rows]…]`: the objects of a response, grouped by kind. */
export function resultsOf(responseJson) {
  const found = [];
  for (const set of responseJson ?? []) {
    for (const answer of Object.values(set.QBXMLMsgsRs ?? {})) {
      for (const one of [answer].flat()) {
        for (const [name, value] of Object.entries(one ?? {})) {
          const rows = [value].flat();
          if (!name.startsWith("@") && name.endsWith("Ret") && name !== "ReportRet" && isObject(rows[0])) found.push([name, rows]);
        }
      }
    }
  }
  return found;
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

export function ResultTable({ results }) {
  const [chosen, setChosen] = useState(0);
  const [page, setPage] = useState(1);
  const [all, setAll] = useState(false);
  const [name, rows] = results[Math.min(chosen, results.length - 1)];
  const columns = columnsOf(rows);
  const shown = all ? columns : columns.slice(0, FEW_COLUMNS);
  const pages = Math.ceil(rows.length / ROWS);
  return html`<section class="card data-table" aria-label="Results">
    <header><div class="row"><h2>Results</h2><span class="muted">${plural(rows.length, "object")}</span></div><div class="row">
      ${results.length > 1 && html`<${KindPicker} results=${results} chosen=${chosen} pick=${(n) => { setChosen(n); setPage(1); }} />`}
      <${Button} kind="small" icon="download" title="All rows and columns, as CSV" onClick=${() => downloadCsv(columns, rows.map((row) => columns.map((column) => cell(row[column]))), name)}>CSV<//>
      ${columns.length > FEW_COLUMNS && html`<${Button} kind="small" onClick=${() => setAll(!all)} aria-pressed=${String(all)}>${all ? "Fewer columns" : `All ${columns.length} columns`}<//>`}
    </div></header>
    <div class="table-wrap" tabindex="0" role="region" aria-label=${name}><table><thead><tr>${shown.map((column) => html`<th scope="col" class=${isAmount(rows, column) ? "number" : ""}>${column}</th>`)}</tr></thead>
      <tbody>${rows.slice((page - 1) * ROWS, page * ROWS).map((row) => html`<tr>${shown.map((column) => {
        const text = cell(row[column]);
        return html`<td class=${isAmount(rows, column) ? "number" : ""} title=${text.length > 30 ? text : undefined}>${text === "" ? html`<span class="muted">–</span>` : text}</td>`;
      })}</tr>`)}</tbody></table></div>
    <${Pager} page=${page} totalPages=${pages} go=${setPage} />
  </section>`;
}

function KindPicker({ results, chosen, pick }) {
  if (results.length <= MAX_SEGMENTS) return html`<${Segmented} label="Kind of object" value=${chosen} options=${results.map(([name], n) => [n, name])} onChange=${pick} />`;
  return html`<select class="compact" aria-label="Kind of object" value=${String(chosen)} onChange=${(event) => pick(Number(event.target.value))}>
    ${results.map(([name, rows], n) => html`<option value=${String(n)} selected=${n === chosen}>${name} (${count(rows.length)})</option>`)}</select>`;
}

function columnsOf(rows) {
  const names = new Set();
  for (const row of rows.slice(0, SAMPLE)) for (const name of Object.keys(row)) names.add(name);
  return [...names].sort((one, other) => rank(one) - rank(other));
}

/** Addresses and flags come after the fields that identify an object. Technical fields come last. */
const rank = (name) => (TECHNICAL.has(name) ? 2 : /^Is[A-Z]|Address|Block$/.test(name) ? 1 : 0);

const isAmount = (rows, column) => rows.slice(0, 20).every((row) => row[column] === undefined || /^-?\d+\.\d+$/.test(row[column])) && rows.slice(0, 20).some((row) => row[column] !== undefined);

function cell(value) {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "Yes" : "No";
  if (Array.isArray(value)) return isObject(value[0]) ? plural(value.length, "entry", "entries") : value.join(", ");
  if (isObject(value)) return value.FullName ?? Object.entries(value).filter(([name]) => !name.startsWith("@")).map(([, part]) => cell(part)).filter(Boolean).join(", ");
  return String(value);
}
