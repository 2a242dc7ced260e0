// The QBXML reference: every request and response type, from the schema that the service checks requests against.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { useLoad } from "../lib/api.js";
import { referenceData } from "../lib/reference_data.js";
import { url } from "../lib/router.js";
import { fieldIndex, requestNames } from "../lib/schema.js";
import { SearchField } from "../lib/search_field.js";
import { count, plural, requestTitle } from "../lib/text.js";
import { Empty, Problem, Skeleton, SkeletonCard, useTitle } from "../lib/ui.js";
import { Type } from "./reference_type.js";

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
            <${SearchField}
              label="Search types and fields"
              placeholder="Search types and fields"
              value=${search}
              change=${setSearch}
            />
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
