// The QBXML reference: every request and response type, from the schema that the service checks requests against.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { session, useLoad } from "../lib/api.js";
import { url } from "../lib/router.js";
import { answersTo, editionsText, referenceData, sampleTree } from "../lib/reference_data.js";
import { shortForm } from "../lib/request_json.js";
import { BASES, fieldIndex, requestNames, requestType, responseFacts, toXml } from "../lib/schema.js";
import { count, plural, requestTitle } from "../lib/text.js";
import { Code, Empty, Icon, Problem, Segmented, Skeleton, SkeletonCard, useTitle } from "../lib/ui.js";

const VERBS = ["Query", "Add", "Mod", "Del", "Void", "Merge"];

const MIN_FIELD_SEARCH = 2;
const MAX_FIELDS = 40;

export default function Reference({ parts: [name], query }) {
  const { data: names, error, reload } = useLoad(requestNames, []);
  const about = useLoad(referenceData, []).data;
  const [search, setSearch] = useState("");
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const wantsFields = Boolean(query.field) || words.join("").length >= MIN_FIELD_SEARCH;
  const fields = useLoad(async () => (wantsFields ? fieldIndex() : null), [wantsFields]).data;
  const request = name?.replace(/Rs$/, "Rq");
  useTitle(name ?? query.field ?? "QBXML reference");
  const list = useRef();
  useEffect(
    () => list.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }),
    [names, request],
  );
  const matching = (names ?? []).filter((one) =>
    words.every((word) => `${one} ${requestTitle(one)} ${about?.messages[one] ?? ""}`.toLowerCase().includes(word)),
  );
  const found = words.length ? matchingFields(fields, words.join("")) : [];
  const type = (one) => html`
    <li key=${one}>
      <a href=${url(`/qbxml/${one}`)} aria-current=${one === request ? "page" : undefined}>${one}</a>
    </li>
  `;
  return html`
    <div class="page">
      <nav class="crumbs" aria-label="Breadcrumbs">
        <a href=${url("/qbxml")}>QBXML reference</a>
        ${
          (name ?? query.field) &&
          html`
            <span aria-hidden="true">/</span>
            <span class="break">${name ?? query.field}</span>
          `
        }
      </nav>
      ${error && html`<${Problem} error=${error} retry=${reload} what="The reference could not be loaded." />`}
      <div class="reference">
        <aside class="card list" aria-label="Types and fields">
          <div class="toolbar">
            <div class="search">
              <${Icon} name="search" />
              <input
                type="search"
                aria-label="Search types and fields"
                placeholder="Search types and fields"
                value=${search}
                onInput=${(event) => setSearch(event.target.value)}
              />
            </div>
          </div>
          <div class="scroll" ref=${list}>
            ${words.length > 0 && html`<h3 role="status">${plural(matching.length, "type")}</h3>`}
            <ul>
              ${
                names
                  ? matching.map(type)
                  : Array.from({ length: 12 }, () => html`<li class="waiting"><${Skeleton} /></li>`)
              }
            </ul>
            ${
              words.length > 0 &&
              fields &&
              html`
                <h3 role="status">
                  ${
                    found.length > MAX_FIELDS
                      ? `The first ${MAX_FIELDS} of ${plural(found.length, "field")}`
                      : plural(found.length, "field")
                  }
                </h3>
                <ul>
                  ${found.slice(0, MAX_FIELDS).map(
                    (one) => html`
                      <li key=${one}>
                        <a
                          href=${url("/qbxml", { field: one })}
                          aria-current=${!name && one === query.field ? "page" : undefined}
                        >
                          ${one}
                        </a>
                      </li>
                    `,
                  )}
                </ul>
              `
            }
          </div>
        </aside>
        <div class="stack">
          ${
            !names
              ? html`<${SkeletonCard} lines=${8} />`
              : name
                ? names.includes(request)
                  ? html`
                    <${Type}
                      key=${name + query.field}
                      name=${request}
                      response=${name.endsWith("Rs")}
                      field=${query.field}
                      about=${about}
                    />
                  `
                  : html`
                    <div class="card">
                      <${Empty} icon="search" title="Type ${name} does not exist">
                        Search the list for a similar name.
                      <//>
                    </div>
                  `
                : query.field
                  ? html`<${FieldPage} name=${query.field} fields=${fields} about=${about} />`
                  : html`<${Overview} names=${matching} total=${names.length} />`
          }
        </div>
      </div>
    </div>
  `;
}

/** Returns the fields that contain a text: the field itself first, then those that begin with it. */
function matchingFields(fields, text) {
  const rank = (name) => (name === text ? 0 : name.startsWith(text) ? 1 : 2);
  return [...(fields?.keys() ?? [])]
    .filter((name) => name.toLowerCase().includes(text))
    .sort((one, other) => rank(one.toLowerCase()) - rank(other.toLowerCase()) || one.localeCompare(other));
}

/** Every type with a field. */
function FieldPage({ name, fields, about }) {
  if (!fields) return html`<${SkeletonCard} lines=${8} />`;
  const types = fields.get(name);
  if (!types)
    return html`
      <div class="card">
        <${Empty} icon="search" title="Field ${name} does not exist">Search the list for a similar name.<//>
      </div>
    `;
  const { requests, responses } = types;
  const links = (title, names) =>
    names.length > 0 &&
    html`
      <section class="card" aria-label=${title}>
        <header>
          <h2>${title}</h2>
          <span class="muted small">${plural(names.length, "type")}</span>
        </header>
        <div class="body row">
          ${names.map((one) => html`<a class="tag" href=${url(`/qbxml/${one}`, { field: name })}>${one}</a>`)}
        </div>
      </section>
    `;
  return html`
    <div>
      <h1><code class="title">${name}</code></h1>
      ${about?.fieldText(name) && html`<p class="lead">${about.fieldText(name)}</p>`}
      <p class="muted lead">
        A field of ${plural(requests.length, "request type")} and ${plural(responses.length, "response type")}.
        Choose a type to see the field in its place.
      </p>
    </div>
    ${links("In requests", requests)}
    ${links("In responses", responses)}
  `;
}

function Overview({ names, total }) {
  const subjects = useMemo(() => {
    const grouped = new Map();
    for (const name of names) {
      const verb = VERBS.find((one) => name.endsWith(`${one}Rq`));
      const subject = name.slice(0, -`${verb}Rq`.length);
      grouped.set(subject, [...(grouped.get(subject) ?? []), [verb, name]]);
    }
    return [...grouped].sort(([one], [other]) => one.localeCompare(other));
  }, [names]);
  return html`
    <div>
      <h1>QBXML reference</h1>
      <p class="muted lead">
        ${count(total)} request types, each with its purpose, fields, editions, possible statuses, and a sample. The
        service checks every request against the same schema.
      </p>
    </div>
    <section class="card" aria-label="Subjects">
      ${
        !subjects.length
          ? html`<${Empty} icon="search" title="No type matches">The matching fields are in the list.<//>`
          : html`
            <div class="table-wrap">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Subject</th>
                    <th scope="col">Requests</th>
                  </tr>
                </thead>
                <tbody>
                  ${subjects.map(
                    ([subject, types]) => html`
                      <tr key=${subject}>
                        <td class="strong">${requestTitle(subject)}</td>
                        <td>
                          <div class="row">
                            ${types
                              .sort(([one], [other]) => VERBS.indexOf(one) - VERBS.indexOf(other))
                              .map(
                                ([verb, name]) => html`
                                  <a class="tag" href=${url(`/qbxml/${name}`)} aria-label=${name}>${verb}</a>
                                `,
                              )}
                          </div>
                        </td>
                      </tr>
                    `,
                  )}
                </tbody>
              </table>
            </div>
          `
      }
    </section>
  `;
}

function Type({ name, response, field, about }) {
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
      ${session.canChange && html`<a class="button primary" href=${url("/compose", { type: name })}>Compose</a>`}
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

/** A row of the tree: its cells and its child rows. */
function partRow(about, part, parent) {
  if (part.kind === "element") {
    const below = part.content
      ? () =>
          (part.content.kind === "choice" ? [part.content] : part.content.parts).map((one) =>
            partRow(about, one, part.name),
          )
      : null;
    return {
      name: part.name,
      type: typeName(part),
      text: about.fieldText(part.name),
      notes: [...notesOf(part), ...editionNotes(about, part.name, parent)],
      below,
    };
  }
  const name =
    part.kind === "choice"
      ? part.repeats
        ? "any of, repeated"
        : part.required
          ? "one of"
          : "at most one of"
      : "all of";
  return {
    group: true,
    name,
    type: "",
    notes: [],
    below: () => part.parts.map((one) => partRow(about, one, parent)),
    open: true,
  };
}

function editionNotes(about, name, parent) {
  const editions = about.missing(name, parent);
  return editions ? [html`<span class="tag">${editionsText(editions)}</span>`] : [];
}

function typeName(element) {
  if (element.content) return "group";
  if (element.values) return "one of a list";
  return BASES[element.base]?.name ?? element.base;
}

function notesOf(element) {
  const notes = [];
  if (element.required && !element.alternative) notes.push(html`<span class="tag required">required</span>`);
  if (element.repeats)
    notes.push(
      html`<span class="tag">
        ${/\d/.test(element.times) ? `up to ${element.times.split("..")[1]} times` : "repeats"}
      </span>`,
    );
  if (element.since && element.since !== "1.0") notes.push(html`<span class="tag new">since ${element.since}</span>`);
  const words = [];
  if (element.length) {
    const abroad = element.length_abroad ? ` (${count(element.length_abroad)} outside the US)` : "";
    words.push(`at most ${plural(element.length, "character")}${abroad}`);
  }
  if (element.least !== undefined) words.push(`at least ${element.least}`);
  if (element.most !== undefined) words.push(`at most ${element.most}`);
  if (element.default !== undefined) words.push(`default ${element.default}`);
  if (element.values)
    words.push(
      element.values
        .map((value) => (element.added?.[value] ? `${value} (since ${element.added[value]})` : value))
        .join(", "),
    );
  if (words.length) notes.push(html`<span class="break">${words.join("; ")}</span>`);
  return notes;
}

function returnedRow(about, name, value, parent) {
  const repeats = Array.isArray(value);
  const inside = repeats ? value[0] : value;
  const below =
    inside && typeof inside === "object"
      ? () => Object.entries(inside).map(([one, part]) => returnedRow(about, one, part, name))
      : null;
  return {
    name,
    type: below
      ? repeats
        ? "array of objects"
        : "object"
      : `${inside === 1 ? "boolean" : "text"}${repeats ? " (array)" : ""}`,
    text: about.fieldText(name),
    notes: [...(repeats ? [html`<span class="tag">repeats</span>`] : []), ...editionNotes(about, name, parent)],
    below,
  };
}

/** Returns whether a row is the field or contains it. */
const holds = (row, field) => row.name === field || Boolean(row.below?.().some((one) => holds(one, field)));

function Tree({ rows, columns, field }) {
  const table = useRef();
  useEffect(() => table.current.querySelector(".hit")?.scrollIntoView({ block: "center" }), [field]);
  return html`
    <div class="table-wrap">
      <table class="tree" ref=${table}>
        <thead>
          <tr>
            ${columns.map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row, n) => html`<${Branch} key=${n} row=${row} depth=${0} open=${rows.length <= 3} field=${field} />`,
          )}
        </tbody>
      </table>
    </div>
  `;
}

function Branch({ row, depth, open: first, field }) {
  const [open, setOpen] = useState(() =>
    Boolean(row.open || first || (field && row.below?.().some((one) => holds(one, field)))),
  );
  return html`
    <tr class=${!row.group && row.name === field ? "hit" : ""}>
      <td style=${{ paddingLeft: `${32 + depth * 20}px` }}>
        ${
          row.below &&
          html`
            <button
              type="button"
              class="fold"
              aria-expanded=${String(open)}
              aria-label="${open ? "Hide" : "Show"} the fields of ${row.name}"
              onClick=${() => setOpen(!open)}
            >
              <${Icon} name="chevron" />
            </button>
          `
        }
        ${row.group ? html`<em class="muted">${row.name}</em>` : row.name}
      </td>
      <td class="muted nowrap">${row.type}</td>
      <td>
        ${row.text && html`<p class="meaning">${row.text}</p>`}
        ${row.notes.length > 0 && html`<div class="row">${row.notes}</div>`}
      </td>
    </tr>
    ${open && row.below?.().map((one, n) => html`<${Branch} key=${n} row=${one} depth=${depth + 1} field=${field} />`)}
  `;
}
