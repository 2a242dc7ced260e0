// Makes the types and the table of the reports: `books.reports.profitAndLoss(…)`, for each report of QuickBooks.
//
// `generate.mjs` writes what this module returns. The reports are the types that the requests for reports have.

/** Return all reports by their names in the client: the request of each, and its name in it. */
export function reportsOf(requests) {
  const found = Object.entries(requests)
    .filter(([request]) => request.endsWith("ReportQueryRq"))
    .flatMap(([request, { content, types }]) => {
      const [, , names] = content.sequence[0];
      const name = request.replace(/QueryRq$/, "");
      return types[names].filter(Boolean).map((report) => [methodOf(report), [name, report]]);
    });
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Return the name of a report's method: `profitAndLoss`. What is standard needs no word, and digits go to the end. */
function methodOf(report) {
  const [, digits, words] = /^(\d*)(.*?)(?:Standard)?$/.exec(report);
  return words.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, (first) => first.toLowerCase()) + digits;
}

/** Return the module with what the client knows of each report at run time. */
export function reportsFile(reports) {
  return [
    "/** The request of each report, and its name in it. @type {Record<string, [string, string]>} */",
    "export const REPORTS = {",
    ...Object.entries(reports).map(([method, report]) => `  ${method}: ${JSON.stringify(report)},`),
    "};",
  ];
}

const PERIOD = [
  "  /** The first day, such as 2026-01-01. */",
  "  FromReportDate?: Text;",
  "  /** The last day, such as 2026-01-31. */",
  "  ToReportDate?: Text;",
];

/** Return the declarations of all reports. */
export function reportTypesFile(reports, requests) {
  const names = [...new Set(Object.values(reports).map(([request]) => request))];
  return [
    "// The types of the reports.",
    'import type { Report } from "../methods.cjs";',
    'import type { Text } from "../values.cjs";',
    'import type * as q from "./requests.cjs";',
    ...names.flatMap((name) => [
      `/** The filters of ${name}Query. */`,
      `export interface ${name}Filters extends Omit<q.${name}QueryRq, "${name}Type" | "ReportPeriod"> {`,
      ...(hasPeriod(requests[`${name}QueryRq`]) ? PERIOD : []),
      "}",
    ]),
    "/** The reports of QuickBooks. */",
    "export interface Reports {",
    ...Object.entries(reports).flatMap(([method, [request, report]]) => [
      `  /** Return the report ${report} as a table. Throws ApiError, RequestFailed, StillQueued. */`,
      `  readonly ${method}: Report<${request}Filters>;`,
    ]),
    "}",
  ];
}

const hasPeriod = ({ content }) => JSON.stringify(content).includes('["ReportPeriod",');
