// The field with which a view is searched.
import { html } from "../vendor/preact.js";
import { Icon } from "./ui.js";

/** `change` gets the text. `label` is for screen readers; others see the `placeholder`. */
export const SearchField = ({ label, placeholder, value, change, maxlength = 200 }) => html`
  <div class="search">
    <${Icon} name="search" />
    <input
      type="search"
      aria-label=${label}
      placeholder=${placeholder}
      maxlength=${maxlength}
      value=${value}
      onInput=${(event) => change(event.target.value)}
    />
  </div>
`;
