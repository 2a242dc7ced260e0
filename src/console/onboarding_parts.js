// The parts of the onboarding page that every state of the setup shows.
import { html, useState } from "./vendor/preact.js";
import { CopyButton } from "./lib/copying.js";
import { Button, Foreign, Icon } from "./lib/ui.js";

export const IS_PHONE =
  /Android|iPhone|iPad|iPod|Mobile/.test(navigator.userAgent) ||
  (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

/** Names the app that asks for access, the company file, and the contact of the app. */
export function Requester({ progress, full }) {
  const { contact } = progress;
  const [failed, setFailed] = useState(false);
  const who = contact.name ?? "An application";
  if (!full && !contact.name && !contact.logo_url) return null;
  const file = progress.company_name ?? progress.company_file ?? progress.name;
  return html`
    <section class="card requester" aria-label="Request for access">
      ${
        contact.logo_url &&
        !failed &&
        html`
          <img
            src=${contact.logo_url}
            alt=""
            width="48"
            height="48"
            referrerpolicy="no-referrer"
            onError=${() => setFailed(true)}
          />
        `
      }
      <div class="stack tight">
        <p>
          <strong class="break"><${Foreign} text=${who} /></strong>${" "}
          ${
            full
              ? html`
                asks for access to${" "}
                ${
                  file
                    ? html`<span class="break"><${Foreign} text=${file} /></span> in QuickBooks.`
                    : "your company file in QuickBooks."
                }
              `
              : "now has access to this company file."
          }
        </p>
        ${
          full &&
          html`
            <p class="muted small">
              It can then read and change the data of this company file only. You give access in QuickBooks, and can
              revoke it there at any time: Edit → Preferences → Integrated Applications.
            </p>
          `
        }
        <${Contact} contact=${contact} lead="Questions?" />
      </div>
    </section>
  `;
}

/** The ways to reach a person, or nothing. */
export const Contact = ({ contact, lead }) =>
  (contact.phone || contact.email) &&
  html`
    <p class="row small">
      ${lead}
      ${contact.phone && html`<a href=${`tel:${contact.phone.replace(/[^0-9+]/g, "")}`}>Phone ${contact.phone}</a>`}
      ${contact.email && html`<a class="break" href=${`mailto:${contact.email}`}>${contact.email}</a>`}
    </p>
  `;

/** On a phone nothing can be set up: offers to send the link to the computer. */
export function OnPhone({ progress }) {
  const share = () => navigator.share({ title: document.title, url: location.href }).catch(() => {});
  const subject = `Connect QuickBooks${progress.name ? ` for ${progress.name}` : ""}`;
  const text = `Open this link on the Windows computer where QuickBooks runs:\n\n${location.href}\n`;
  const mail = `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}`;
  return html`
    <section class="card phone" aria-label="Continue on the computer">
      <h2>Continue on the Windows computer</h2>
      <p>
        Set up the connection on the computer where QuickBooks runs. Send this link to that computer and open it
        there.
      </p>
      <p class="row">
        <a class="button primary" href=${mail}>
          <${Icon} name="external" />
          Email the link
        </a>
        ${navigator.share && html`<${Button} onClick=${share}>Share<//>`}
        <${CopyButton} text=${location.href} label="Copy the link" kind="" />
      </p>
      <p class="muted small">
        Anyone who has the link can set up this connection. Send it only to yourself, or to the person who works at
        that computer.
      </p>
    </section>
  `;
}
