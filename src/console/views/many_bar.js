// Requests that a reader selects, and the buttons of the bulk actions.
import { html, useEffect, useState } from "../vendor/preact.js";
import { ACTIONS, possible } from "../lib/bulk_actions.js";
import { momentsAreWhole } from "../lib/moment_input.js";
import { count } from "../lib/text.js";
import { Button, toast } from "../lib/ui.js";

/**
 * Returns which requests of a list are selected: `{ids, isAll, has, set, clear, selectAll}`. `isAll` means all that
 * match, also on other pages. The selection ends when the list shows other requests, so when `list` changes.
 */
export function useSelection(list) {
  const [{ ids, isAll }, select] = useState({ ids: [], isAll: false });
  const clear = () => select({ ids: [], isAll: false });
  useEffect(clear, [list]);
  return {
    ids,
    isAll,
    clear,
    selectAll: () => select({ ids: [], isAll: true }),
    has: (id) => isAll || ids.includes(id),
    /** Selects some requests or not. `page` has the ids on the screen: one that is left out of all leaves those. */
    set: (some, isSelected, page) => {
      const others = (isAll ? page : ids).filter((id) => !some.includes(id));
      select({ ids: isSelected ? [...others, ...some] : others, isAll: false });
    },
  };
}

/** A check box whose whole cell can be pressed. `isPartial`: some of what it stands for is selected. */
export function Pick({ label, checked, isPartial, onChange }) {
  const mark = (box) => {
    if (box) box.indeterminate = Boolean(isPartial);
  };
  return html`
    <label>
      <input
        type="checkbox"
        aria-label=${label}
        checked=${checked}
        ref=${mark}
        onChange=${(event) => onChange(event.target.checked)}
      />
    </label>
  `;
}

/** The bulk actions for the selected rows, or for all requests that match the filters. */
export function ManyBar({ id, query, total, isFiltered, selection, done }) {
  const [dialog, setDialog] = useState(null);
  const { ids, isAll, clear, selectAll } = selection;
  const open = (action) =>
    momentsAreWhole() &&
    import("./many.js").then(
      (module) => setDialog({ view: module.default, action, ids: ids.length ? ids : null }),
      () => toast("The dialog could not be loaded. Reload the page.", "red"),
    );
  const close = () => {
    setDialog(null);
    clear();
    done();
  };
  const names = possible(query);
  // The dialog stays when the list becomes empty.
  return html`
    ${
      total > 0 &&
      (ids.length > 0 || isAll || (isFiltered && names.length > 0)) &&
      html`
        <div class="search-note many-bar" role="group" aria-label="Many requests">
          <span class="strong" role="status">
            ${
              ids.length
                ? `${count(ids.length)} selected`
                : total === 1
                  ? `1 request${isFiltered ? " matches" : ""}`
                  : `All ${count(total)} requests${isFiltered ? " that match" : ""}`
            }
          </span>
          ${names.map((name) => html`<${Button} kind="small" onClick=${() => open(name)}>${ACTIONS[name].name}<//>`)}
          ${names.length === 0 && html`<span class="muted">No action applies to all of them.</span>`}
          ${
            ids.length > 0 &&
            ids.length < total &&
            html`
              <${Button} kind="small ghost" onClick=${selectAll}>
                Select all ${count(total)}
                ${isFiltered ? " that match" : ""}
              <//>
            `
          }
          ${(ids.length > 0 || isAll) && html`<${Button} kind="small ghost" onClick=${clear}>Select none<//>`}
        </div>
      `
    }
    ${
      dialog &&
      html`<${dialog.view} id=${id} query=${query} ids=${dialog.ids} action=${dialog.action} onClose=${close} />`
    }
  `;
}

/** A button that opens the dialog for many requests, whose module is loaded then. */
export function ManyAtOnce({ id, query, done }) {
  const [dialog, setDialog] = useState(null);
  const open = () =>
    momentsAreWhole() &&
    import("./many.js").then(
      (module) => setDialog(() => module.default),
      () => toast("The dialog could not be loaded. Reload the page.", "red"),
    );
  return html`
    <${Button} kind="ghost" onClick=${open}>Bulk actions<//>
    ${
      dialog &&
      html`
        <${dialog}
          id=${id}
          query=${query}
          onClose=${() => {
            setDialog(null);
            done();
          }}
        />
      `
    }
  `;
}
