// The move of a Web Connector to another computer, as the onboarding page and the console word it.
import { html } from "../vendor/preact.js";

export const MOVE = "Move to a new computer";

export const INSTALL = "Install QuickBooks and the Web Connector on the new computer first.";

/** If this step is left out, two Web Connectors call. */
export const RemoveFromOld = () => html`
  On the old computer, select the application in the Web Connector and choose${" "}<strong>Remove</strong>. Otherwise
  both computers call.
`;
