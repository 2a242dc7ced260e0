// The field with which a view is searched.
import { html } from "../vendor/preact.js";
import { Icon } from "./ui.js";

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
