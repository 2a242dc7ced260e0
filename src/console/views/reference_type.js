// The reference of one request type: its elements, its response and its statuses.
import { html, useMemo, useState } from "../vendor/preact.js";
import { useLoad } from "../lib/api.js";
import { Code } from "../lib/copying.js";
import { answersTo, editionsText, sampleTree } from "../lib/reference_data.js";
import { shortForm } from "../lib/request_json.js";
import { url } from "../lib/router.js";
import { BASES, requestType, responseFacts } from "../lib/schema.js";
import { session } from "../lib/session.js";
import { requestTitle } from "../lib/text.js";
import { Problem, Segmented, Skeleton, SkeletonCard } from "../lib/ui.js";
import { toXml } from "../lib/xml.js";
import { partRow, returnedRow, Tree } from "./reference_rows.js";

export function Type({ name, response, field, about }) {
  const type = useLoad(() => requestType(name), [name]);
  const returned = useLoad(() => responseFacts(name.replace(/Rq$/, "Rs")), [name]);
  const [form, setForm] = useState("xml");
  const example = useMemo(() => type.data && about && sampleTree(type.data, about.samples), [type.data, about]);
  if (type.error)
    return html`<${Problem} error=${type.error} retry=${type.reload} what="This type could not be loaded." />`;
  if (!type.data || !about) return html`<${SkeletonCard} lines=${10} />`;
  const { since, attributes, content } = type.data;
  const responseName = name.replace(/Rq$/, "Rs");
  const isRead = name.endsWith("QueryRq");
  return html`
    <div class="page-head">
      <div>
        <h1>${response ? responseName : name}</h1>
        <p class="sub">
          <span>${requestTitle(name)}</span>
          <span class="tag">since QBXML ${since}</span>
          <span class=${about.missing(name) ? "tag required" : "tag"}>
            ${about.missing(name) ? editionsText(about.missing(name)) : "US, Canada, UK, Australia"}
          </span>
          <span>
            ${isRead ? "Reads data; it can be sent again." : "Changes the books; it reaches QuickBooks once."}
          </span>
        </p>
        <p class="lead">${about.messages[name]}</p>
      </div>
      ${session.may("queue") && html`<a class="button primary" href=${url("/compose", { type: name })}>Compose</a>`}
    </div>
    <nav class="tabs" aria-label="Request and response">
      <a href=${url(`/qbxml/${name}`)} aria-current=${response ? undefined : "page"}>Request</a>
      <a href=${url(`/qbxml/${responseName}`)} aria-current=${response ? "page" : undefined}>Response</a>
    </nav>
    ${
      response
        ? html`
          <section class="card" aria-label="Response">
            <header>
              <h2>Fields</h2>
              <span class="muted small">As they appear in the JSON of a response</span>
            </header>
            ${
              returned.data
                ? Object.keys(returned.data).length
                  ? html`
                    <${Tree}
                      rows=${Object.entries(returned.data).map(([one, value]) =>
                        returnedRow(about, one, value, responseName),
                      )}
                      columns=${["Element", "Type", "Meaning"]}
                      field=${field}
                    />
                  `
                  : html`
                    <div class="body muted">
                      Only the status: <code>statusCode</code>, <code>statusSeverity</code> and${" "}
                      <code>statusMessage</code>.
                    </div>
                  `
                : html`<div class="body"><${Skeleton} /></div>`
            }
          </section>
        `
        : html`
          <section class="card" aria-label="Fields">
            <header>
              <h2>Fields</h2>
              <span class="muted small">In the order that QBXML prescribes</span>
            </header>
            <${Tree}
              rows=${content.parts.map((part) => partRow(about, part, name))}
              columns=${["Element", "Type", "Meaning"]}
              field=${field}
            />
          </section>
          ${
            Object.keys(attributes).length > 0 &&
            html`
              <section class="card" aria-label="Attributes">
                <header><h2>Attributes of ${name}</h2></header>
                <div class="table-wrap">
                  <table>
                    <thead>
                      <tr>
                        <th scope="col">Attribute</th>
                        <th scope="col">Type</th>
                        <th scope="col">Meaning</th>
                      </tr>
                    </thead>
                    <tbody>
                      ${Object.entries(attributes).map(
                        ([one, kind]) => html`
                          <tr>
                            <td><code>${one}</code></td>
                            <td>
                              ${
                                typeof kind === "number"
                                  ? type.data.types[kind].join(", ")
                                  : (BASES[kind]?.name ?? kind)
                              }
                            </td>
                            <td>${about.fieldText(one)}</td>
                          </tr>
                        `,
                      )}
                    </tbody>
                  </table>
                </div>
              </section>
            `
          }
          <section class="card" aria-label="Sample">
            <header>
              <h2>Sample</h2>
              <${Segmented}
                label="Form of the sample"
                value=${form}
                onChange=${setForm}
                options=${[
                  ["xml", "XML"],
                  ["json", "JSON"],
                ]}
              />
            </header>
            <div class="body">
              <${Code}
                label="Sample"
                text=${form === "xml" ? toXml(example) : JSON.stringify({ request_json: shortForm(example) }, null, 2)}
              />
            </div>
          </section>
          <${Answers} name=${name} />
        `
    }
  `;
}

const SEVERITIES = [
  ["Info", ""],
  ["Warn", "required"],
  ["Error", "error"],
];

const severityOf = (code) => SEVERITIES[code < 500 ? 0 : code < 1000 ? 1 : 2];

/** The statuses that a request can be answered with. */
function Answers({ name }) {
  const { data: answers, error, reload } = useLoad(() => answersTo(name), [name]);
  if (error) return html`<${Problem} error=${error} retry=${reload} what="The statuses could not be loaded." />`;
  return html`
    <section class="card" aria-label="Statuses">
      <header>
        <h2>Statuses</h2>
        <span class="muted small">
          The statuses that QuickBooks can return. They follow from the kind and the fields of the request; others
          are possible.
        </span>
      </header>
      <div class="table-wrap">
        <table>
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Meaning, and what to do</th>
            </tr>
          </thead>
          <tbody>
            ${
              answers
                ? answers.map(
                    ({ code, message, hint, retryable }) => html`
                      <tr key=${code}>
                        <td class="nowrap">
                          <code>${code}</code> <span class="tag ${severityOf(code)[1]}">${severityOf(code)[0]}</span>
                        </td>
                        <td>
                          ${message}
                          <p class="muted small">
                            ${hint}
                            ${retryable && " The same request may succeed later."}
                          </p>
                        </td>
                      </tr>
                    `,
                  )
                : html`<tr><td colspan="2"><${Skeleton} /></td></tr>`
            }
          </tbody>
        </table>
      </div>
    </section>
  `;
}
