// Loads the names that a form offers, and says where they come from and how old they are.
import { html, useRef, useState } from "../vendor/preact.js";
import { useLoad } from "../lib/api.js";
import { KINDS, offersOf } from "../lib/offers.js";
import { url } from "../lib/router.js";
import { plural, requestTitle } from "../lib/text.js";
import { Ago, Button, explain } from "../lib/ui.js";

/** Loads the offers of a connection: a load of `offersOf`, with `connection`, `isDeep` and `lookDeeper`. */
export function useOffers(connection, kinds) {
  const [isDeep, setDeep] = useState(false);
  const isFresh = useRef(false);
  const load = useLoad(
    async (signal) => {
      const wanted = { signal, isDeep, isFresh: isFresh.current };
      isFresh.current = false;
      return connection && kinds.length ? offersOf(connection, kinds, wanted) : null;
    },
    [connection, kinds.join(), isDeep],
  );
  const reload = () => {
    isFresh.current = true;
    load.reload();
  };
  return { ...load, reload, connection, isDeep, lookDeeper: () => setDeep(true) };
}

export function OfferNote({ offers }) {
  const { data, error, loading, connection, isDeep } = offers;
  if (!connection || (!data && !error && !loading)) return null;
  if (error)
    return html`
      <p class="muted small" role="status">
        Names of earlier responses could not be loaded: ${explain(error)}${" "}
        <${Button} kind="small" onClick=${() => offers.reload()}>Try again<//>
      </p>
    `;
  if (!data || loading)
    return html`
      <p class="muted small" role="status">Looking for names in ${isDeep ? "older" : "earlier"} responses…</p>
    `;
  const counts = Object.entries(data.kinds)
    .map(([kind, all]) => [kind, all.filter(({ isHidden }) => !isHidden).length])
    .filter(([, number]) => number);
  return html`
    <div class="offer-note muted small stack tight">
      ${
        counts.length > 0 &&
        html`
          <p>
            Offered: ${counts.map(([kind, number]) => plural(number, KINDS[kind].one)).join(" and ")}, from earlier
            responses of this connection:
            ${data.sources.map(
              ({ id, request_name: name, responded_at: at }, n) => html`
                ${n ? ", " : " "}
                <a href=${url(`/queued_requests/${id}`)}>${requestTitle(name)}</a> (<${Ago} at=${at} />)
              `,
            )}. You can type any other name.${" "}
            <${Button} kind="small ghost" icon="refresh" onClick=${() => offers.reload()}>Read again<//>
          </p>
        `
      }
      ${
        data.missing.length > 0 &&
        html`
          <p>
            ${isDeep ? "No response" : "None of the newest 100 responses"} of this connection lists${" "}
            ${data.missing.map((kind) => `${KINDS[kind].one}s`).join(" or ")}.
            ${
              !isDeep &&
              html` <${Button} kind="small" icon="search" onClick=${offers.lookDeeper}>Search older responses<//>
            `
            }
            ${data.missing.map(
              (kind) => html`
                ${" "}
                <a href=${url("/compose", { connection, type: KINDS[kind].query })}>
                  Ask QuickBooks for ${KINDS[kind].one}s
                </a>
              `,
            )}
          </p>
        `
      }
    </div>
  `;
}
