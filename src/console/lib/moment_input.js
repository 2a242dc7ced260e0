// The inputs of a moment. While they are not whole, nothing changes, and they say so.
import { html, useRef, useState } from "../vendor/preact.js";
import { NOT_WHOLE, UTC } from "./moments.js";

/** With less, a year that is still being typed would be a year: 0002, 0020, 0202. */
export const FIRST_DAY = "2000-01-01";
const LAST_DAY = "9999-12-31";

const NO_DATE = "Enter the date too.";

/**
 * A date, and a time that may be empty. `change` gets the moment, or "" without one, as soon as both are whole. A date
 * alone means its whole day, of which `isEnd` means the end. `label` is the name of the date for screen readers.
 *
 * `as` is how a moment is written. `edits` is the `ref` of inputs of a draft. The button that queues a draft says what
 * is not whole: a text that appears when the input is left would move the button away from the pointer.
 */
export function MomentInput({ label, value, isEnd = false, change, names, as = UTC, edits }) {
  const { enteredFor, momentOf } = as;
  const group = useRef(/** @type {HTMLElement | null} */ (null));
  const [typed, setTyped] = useState({ ...enteredFor(value, isEnd), problem: "" });
  const [wasLeft, setLeft] = useState(false);
  const read = () => {
    // An input that is removed with the focus is left afterwards.
    if (!group.current) return;
    const [date, time] = /** @type {NodeListOf<HTMLInputElement>} */ (group.current.querySelectorAll("input"));
    const entered = { date: date.value, time: time.value };
    const moment = momentOf(entered, isEnd);
    date.setCustomValidity(moment === null && !date.validity.badInput ? NO_DATE : "");
    const problem = !time.validity.valid ? NOT_WHOLE.time : date.validity.customError ? NO_DATE : NOT_WHOLE.date;
    const isWhole = date.validity.valid && time.validity.valid;
    setTyped({ ...entered, problem: isWhole ? "" : problem });
    if (isWhole) setLeft(false);
    if (isWhole && moment !== value && moment !== momentOf(enteredFor(value, isEnd), isEnd)) change(moment);
  };
  const leave = (event) => {
    read();
    if (!group.current?.contains(event.relatedTarget)) setLeft(true);
  };
  // What is not whole stays as it was typed. So does another spelling of the same moment.
  const isMeant = typed.problem || momentOf(typed, isEnd) === momentOf(enteredFor(value, isEnd), isEnd);
  const shown = isMeant ? typed : enteredFor(value, isEnd);
  const handlers = { onInput: read, onKeyUp: read, onBlur: leave, ref: edits };
  return html`
    <span class="moment" ref=${group}>
      <input
        type="date"
        min=${FIRST_DAY}
        max=${LAST_DAY}
        aria-label=${label}
        ...${names}
        value=${shown.date}
        ...${handlers}
      />
      <input
        type="time"
        aria-label="${label}, time (optional)"
        disabled=${names?.disabled}
        value=${shown.time}
        ...${handlers}
      />
      <span class="problem" role="status">${!edits && wasLeft && typed.problem && `Not used: ${typed.problem}`}</span>
    </span>
  `;
}

/**
 * Whether each moment of the view is whole. If not, the browser says so at the first one that is not. What works on
 * many requests asks this first.
 */
export const momentsAreWhole = () =>
  [.../** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("main .moment input"))].every((input) =>
    input.reportValidity(),
  );
