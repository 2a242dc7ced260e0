// Dialogs, and buttons that ask before they do something.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Button, explain, Note, toast } from "./ui.js";

let dialogs = 0;

/** A modal dialog; the element itself keeps the focus inside and closes on Escape. */
export function Dialog({ title, onClose, children, actions }) {
  const element = useRef(/** @type {any} */ (null));
  // A dialog can open another one.
  const [titleId] = useState(() => `dialog-title-${(dialogs += 1)}`);
  const isGone = useRef(false);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog.showModal();
    return () => {
      // The Back button removes the dialog with its view. Its `close` comes later and means nothing.
      isGone.current = true;
      // Closing gives the focus back to the element that had it before. Removing an open dialog does not.
      dialog.close();
    };
  }, []);
  const close = (event) => isGone.current || onClose(event);
  return html`
    <dialog ref=${element} aria-labelledby=${titleId} onClose=${close} onCancel=${close}>
      <div class="body">
        <h2 id=${titleId}>${title}</h2>
        ${children}
      </div>
      <footer>${actions}</footer>
    </dialog>
  `;
}

/**
 * A button that asks first, then runs `action`, and says what went wrong. With `isAsking`, the address asks the
 * question, without a press. `asked` is called after the question.
 */
export function ActionButton({ label, icon, kind = "", question, confirm = label, danger, action, ...given }) {
  const { explanation, isAsking, asked } = given;
  /** The question that is open. It stays when the address does not ask any more. */
  const [asking, setAsking] = useState(/** @type {string | null} */ (null));
  useEffect(() => {
    if (isAsking) setAsking(question);
  }, [isAsking]);
  const close = () => {
    setAsking(null);
    asked?.();
  };
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {unknown} */ (null));
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await action();
      close();
    } catch (problem) {
      setError(problem);
      if (!asking) toast(explain(problem), "red");
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
              setAsking(question);
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
          title=${asking}
          onClose=${close}
          actions=${html`
            <${Button} onClick=${close}>Cancel<//>
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
