// The field with which a view is searched.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Icon } from "./ui.js";

const TYPING_MILLISECONDS = 300;

/**
 * `change` gets the text. `label` is for screen readers; others see the `placeholder`. In a view that begins with the
 * field (`isFirst`), it has the focus in place of the heading.
 */
export const SearchField = ({ label, placeholder, value, change, maxlength = 200, isFirst = false }) => html`
  <div class="search">
    <${Icon} name="search" />
    <input
      type="search"
      aria-label=${label}
      data-first=${isFirst}
      placeholder=${placeholder}
      maxlength=${maxlength}
      value=${value}
      onInput=${(event) => change(event.target.value)}
    />
  </div>
`;

/**
 * A SearchField that searches for its text when the person stops typing. `change` gets the text without the spaces
 * around it. A `value` from elsewhere, such as a link, replaces the text.
 */
export function SearchBox({ value, change, ...field }) {
  const [text, setText] = useState(value);
  const searched = useRef(value);
  // A filter that is chosen before the search begins is in the address, which only the newest `change` has read.
  const newest = useRef(change);
  newest.current = change;
  useLayoutEffect(() => {
    // If this box changed the address, the text stays: it may have a space at its end, or more letters by now.
    if (value !== searched.current) setText(value);
    searched.current = value;
  }, [value]);
  useEffect(() => {
    const phrase = text.trim();
    if (phrase === searched.current) return undefined;
    const timer = setTimeout(() => {
      searched.current = phrase;
      newest.current(phrase);
    }, TYPING_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<${SearchField} ...${field} value=${text} change=${setText} />`;
}
