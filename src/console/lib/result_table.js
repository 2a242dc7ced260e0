// The results of a response on the screen, and the button that saves them as CSV.
import { html, useMemo, useState } from "../vendor/preact.js";
import { resultTitle, tableOf } from "./result_rows.js";
import { count } from "./text.js";
import { Button, Foreign, Pager, Segmented, toast } from "./ui.js";

const ROWS = 50;
const FEW_COLUMNS = 8;
const MAX_COLUMNS = 500;
const MAX_SEGMENTS = 3;

/**
 * The results of a response. `maximum` is that of the query if it was reached, so QuickBooks may have more, and `whole`
 * whether they are known to be all. The columns that are `wanted` are shown early.
 */
export function ResultTable({ results, maximum, whole, wanted }) {
  const [chosen, setChosen] = useState(0);
  const [page, setPage] = useState(1);
  const [all, setAll] = useState(false);
  const result = results[Math.min(chosen, results.length - 1)];
  // The array of rows is that of the response, so the table is made once.
  const { about, hasLines, columns, rows, cell, isStrong } = useMemo(() => tableOf(result, wanted), [result[1]]);
  const shown = columns.slice(0, all ? MAX_COLUMNS : FEW_COLUMNS);
  const pages = Math.ceil(rows.length / ROWS);
  return html`
    <section class="card data-table" aria-label="Results">
      <header>
        <div class="row">
          <h2>Results</h2>
          <span class="muted"><${Foreign} text=${about} />${whole && "; complete"}</span>
        </div>
        <div class="row">
          ${
            results.length > 1 &&
            html`
              <${KindPicker}
                results=${results}
                chosen=${chosen}
                pick=${(n) => {
                  setChosen(n);
                  setPage(1);
                }}
              />
            `
          }
          <${CsvButton} result=${result} maximum=${maximum} />
          ${
            columns.length > FEW_COLUMNS &&
            html`
              <${Button} kind="small" onClick=${() => setAll(!all)} aria-pressed=${String(all)}>
                ${
                  all
                    ? "Fewer columns"
                    : columns.length > MAX_COLUMNS
                      ? `First ${MAX_COLUMNS} columns`
                      : `All ${columns.length} columns`
                }
              <//>
            `
          }
        </div>
        ${
          hasLines &&
          html`
            <p class="muted small">
              The CSV has a row for each line, and repeats the other fields. Add those up in the rows with Line 1.
            </p>
          `
        }
      </header>
      <div class="table-wrap" tabindex="0" role="region" aria-label=${resultTitle(result)}>
        <table>
          <thead>
            <tr>
              ${shown.map(
                ({ title, isNumber }) => html`<th scope="col" class=${isNumber ? "number" : ""}>${title}</th>`,
              )}
            </tr>
          </thead>
          <tbody>
            ${rows.slice((page - 1) * ROWS, page * ROWS).map(
              (row) => html`
                <tr class=${isStrong(row) ? "strong" : ""}>
                  ${shown.map(({ key, isNumber }) => {
                    const text = cell(row, key);
                    return html`
                      <td class=${isNumber ? "number" : ""} title=${text.length > 30 ? text : undefined}>
                        ${text === "" ? html`<span class="muted">–</span>` : text}
                      </td>
                    `;
                  })}
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      <${Pager} page=${page} totalPages=${pages} go=${setPage} />
    </section>
  `;
}

function CsvButton({ result, maximum }) {
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    try {
      const { MAX_MEGABYTES, saveResult } = await import("./result_file.js");
      if (!(await saveResult(result, maximum ? `maximum ${maximum}` : null)))
        toast(`The CSV would be larger than ${MAX_MEGABYTES} MB. Get the response from the API instead.`, "red");
    } catch {
      toast("The CSV could not be made. Check your network, then try again.", "red");
    }
    setBusy(false);
  };
  return html`
    <${Button}
      kind="small"
      icon="download"
      busy=${isBusy}
      title=${maximum ? `Incomplete: the query has a maximum of ${count(maximum)}` : "All rows and columns, as CSV"}
      onClick=${press}
    >
      CSV
    <//>
  `;
}

function KindPicker({ results, chosen, pick }) {
  if (results.length <= MAX_SEGMENTS)
    return html`
      <${Segmented}
        label="Kind of object"
        value=${chosen}
        options=${results.map((result, n) => [n, resultTitle(result)])}
        onChange=${pick}
      />
    `;
  return html`
    <select
      class="compact"
      aria-label="Kind of object"
      value=${String(chosen)}
      onChange=${(event) => pick(Number(event.target.value))}
    >
      ${results.map(
        (result, n) => html`
          <option value=${String(n)} selected=${n === chosen}>
            ${resultTitle(result)} (${count(result[1].length)})
          </option>
        `,
      )}
    </select>
  `;
}
