// Compose a request: pick a type, fill in a form made from the schema or edit XML or JSON, see the other form, queue
// it.
import { html, useRef, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { draftKey, moveDraft } from "../lib/drafts.js";
import { navigate, url } from "../lib/router.js";
import { requestNames } from "../lib/schema.js";
import { session } from "../lib/session.js";
import { Field, Note, Problem, SkeletonCard, useTitle } from "../lib/ui.js";
import { Work } from "./compose_draft.js";
import { connectionsWith, Drafts, nameOf, PickType, TypePicker } from "./compose_start.js";

export default function Compose({ query }) {
  useTitle("Compose");
  const names = useLoad(requestNames, []);
  const app = session.about?.app_id;
  const connections = useLoad((signal) => connectionsWith(query.connection, signal), []);
  const source = useLoad(
    async (signal) => (query.from ? (await call("GET", ["queued_requests", query.from], { signal })).data : null),
    [query.from],
  );
  const [unchosen, setUnchosen] = useState(false);
  const picker = useRef();
  const list = connections.data;
  // With several connections, only a person or a link decides whose books are meant.
  const connection = query.connection ?? (list?.length === 1 ? list[0].id : undefined);
  const target = list
    ? list.find(({ id }) => id === connection)
    : connections.error && connection && { id: connection };
  const place = (of) => draftKey(app, of);
  const change = (changes) => {
    const next = { ...query, connection, ...changes };
    if (changes.type) delete next.from;
    if (changes.type && !changes.which) delete next.which;
    if (changes.type || changes.connection) delete next.object;
    if (changes.connection && query.type && !query.object) moveDraft(place({ ...query, connection }), place(next));
    setUnchosen(false);
    navigate(url("/compose", next), { replace: true });
  };
  const askForTarget = () => {
    setUnchosen(true);
    picker.current?.querySelector("select").focus();
  };
  const ready = (list || connections.error) && !source.loading;
  return html`
    <div class="page wide">
      <div class="page-head">
        <div>
          <h1>Compose a request</h1>
          <p class="sub">A form, XML or JSON. Nothing reaches QuickBooks until you queue it.</p>
        </div>
      </div>
      ${
        connections.error &&
        html`
          <${Problem}
            error=${connections.error}
            retry=${connections.reload}
            what="The connections could not be loaded."
          />
        `
      }
      <section class="card" aria-label="Target" ref=${picker}>
        <div class="body columns">
          <${Field} label="Connection" problem=${unchosen && "Choose the company file that the request is for."}>
            ${(control) => html`
              <select
                ...${control}
                value=${target?.id ?? ""}
                onChange=${(event) => change({ connection: event.target.value })}
              >
                ${
                  !target &&
                  html`<option value="" selected disabled>${list ? "Choose a connection…" : "Loading…"}</option>`
                }
                ${list?.map(
                  (one) => html`<option value=${one.id} selected=${one.id === connection}>${nameOf(one)}</option>`,
                )}
              </select>
            `}
          <//>
          <${TypePicker} names=${names.data ?? []} value=${query.type ?? ""} pick=${(type) => change({ type })} />
        </div>
      </section>
      ${
        list?.length === 0 &&
        html`
          <${Note} tone="amber" title="There is no connection yet">
            <p>
              <a href=${url("/connections/new")}>Create a connection</a> first. You can still compose and copy a
              request.
            </p>
          <//>
        `
      }
      ${
        names.error &&
        html`<${Problem} error=${names.error} retry=${names.reload} what="The schema could not be loaded." />`
      }
      ${
        source.error &&
        html`
          <${Problem}
            error=${source.error}
            retry=${source.reload}
            what="The request that you want to edit could not be loaded."
          />
        `
      }
      ${
        !query.type
          ? html`
            <${Drafts} app=${app} connections=${list} />
            <${PickType} names=${names.data} pick=${change} />
          `
          : names.data && !names.data.includes(query.type)
            ? html`
              <${Note} tone="amber" role="status" title="Type ${query.type} does not exist">
                <p>Choose one from the list.</p>
              <//>
            `
            : !ready
              ? !source.error && html`<${SkeletonCard} lines=${8} />`
              : html`
                <${Work}
                  key=${place({ ...query, connection })}
                  name=${query.type}
                  place=${place({ ...query, connection })}
                  target=${target}
                  askForTarget=${askForTarget}
                  source=${source.data}
                  object=${query.object}
                  which=${query.which}
                />
              `
      }
    </div>
  `;
}
