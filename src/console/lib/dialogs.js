// Dialogs, and buttons that ask before they do something.
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Button, explain, Note, toast } from "./ui.js";

let dialogs = 0;

/** A modal dialog; the element itself keeps the focus inside and closes on Escape. */
export function Dialog({ title, onClose, children, actions }) {
  const element = useRef(/** @type {any} */ (null));
  // A dialog can open another one.
  const [titleId] = useState(() => `dialog-title-${(dialogs += 1)}`);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    // Closing gives the focus back to the element that had it before. Removing an open dialog does not.
    return () => dialog.close();
  }, []);
  return html`
    <dialog ref=${element} aria-labelledby=${titleId} onClose=${onClose} onCancel=${onClose}>
      <div class="body">
        <h2 id=${titleId}>${title}</h2>
        ${children}
      </div>
      <footer>${actions}</footer>
    </dialog>
  `;
}

/** A button that asks first, then runs `action`, and says what went wrong. */
export function ActionButton({ label, icon, kind = "", question, explanation, confirm = label, danger, action }) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await action();
      setAsking(false);
    } catch (problem) {
      setError(problem);
      if (!question) toast(explain(problem), "red");
    }
    setBusy(false);
  };
  return html`
    <${Button}
      kind=${`${kind} ${danger ? "danger" : ""}`}
      icon=${icon}
      busy=${busy}
      onClick=${
        question
          ? () => {
              setError(null);
              setAsking(true);
            }
          : run
      }
    >
      ${label}
    <//>
    ${
      asking &&
      html`
        <${Dialog}
          title=${question}
          onClose=${() => setAsking(false)}
          actions=${html`
            <${Button} onClick=${() => setAsking(false)}>Cancel<//>
            <${Button} kind=${`primary ${danger ? "danger" : ""}`} busy=${busy} onClick=${run}>${confirm}<//>
          `}
        >
          <p class="muted">${explanation}</p>
          ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
        <//>
      `
    }
  `;
}
