// Dialogs with a form that makes one call.
import { html, useState } from "../vendor/preact.js";
import { Dialog } from "./dialogs.js";
import { Button } from "./ui.js";

/**
 * What the service says about each field, what else went wrong, and whether the call is on its way.
 *
 * @typedef {{problems: Record<string, string>, error?: any, busy?: boolean}} FormState
 */

/**
 * Returns the state of a form and a function that makes its call.
 *
 * @param {() => Promise<unknown>} send
 * @returns {[FormState, (event?: Event) => Promise<void>]}
 */
export function useForm(send) {
  const [state, setState] = useState(/** @type {FormState} */ ({ problems: {} }));
  const submit = async (/** @type {Event | undefined} */ event) => {
    event?.preventDefault();
    setState({ problems: {}, busy: true });
    try {
      await send();
      setState({ problems: {} });
    } catch (error) {
      const found = (error.details?.problems ?? []).map(({ field, message }) => [field, message]);
      setState({ problems: Object.fromEntries(found), error: found.length ? null : error });
    }
  };
  return [state, submit];
}

/** A dialog with the form that `useForm` returned. Without `canSend`, its button is disabled. */
export function FormDialog({ title, confirm, form: [{ busy }, submit], canSend, close, children }) {
  return html`
    <${Dialog}
      title=${title}
      onClose=${close}
      actions=${html`
        <${Button} onClick=${close}>Cancel<//>
        <${Button} kind="primary" busy=${busy || !canSend} onClick=${submit}>${confirm}<//>
      `}
    >
      <form class="stack" onSubmit=${submit} noValidate>${children}</form>
    <//>
  `;
}

/**
 * A choice of one of several things, with what each one means.
 *
 * @param {{label: string, options: Record<string, string[]>, value: string, change: (value: string) => void}} properties
 */
export const Choice = ({ label, options, value, change }) => html`
  <fieldset class="options">
    <legend class="label">${label}</legend>
    ${Object.entries(options).map(
      ([key, [name, meaning]]) => html`
        <label class="option" key=${key}>
          <input type="radio" name="choice" checked=${key === value} onChange=${() => change(key)} />
          <span>
            <span class="strong">${name}</span>
            <span class="muted small">${meaning}</span>
          </span>
        </label>
      `,
    )}
  </fieldset>
`;
