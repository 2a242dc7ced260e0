// Who has signed in, and to what: the app, its environment and the role, and the menu of a person.
import { html, useEffect, useRef } from "../vendor/preact.js";
import { url } from "./router.js";
import { endSession, loginAddress, session, signOut, switchApp } from "./session.js";
import { explain, Foreign, Icon, toast } from "./ui.js";

const ENVIRONMENTS = { production: "Production", test: "Test" };
export const ROLES = {
  viewer: "Viewer",
  support: "Support",
  editor: "Editor",
  approver: "Approver",
  admin: "Admin",
};
/** What a key can do, if not everything. */
const KEYS = { read_only: " (read-only key)", propose: " (key that proposes)", approve: " (key that approves)" };

export const Environment = ({ name }) => html`<span class="environment ${name}">${ENVIRONMENTS[name] ?? name}</span>`;

/** A person in a record or an entry, which keep the id alone: the name is gone after the person was forgotten. */
export const PersonName = ({ name }) =>
  name ? html`<${Foreign} text=${name} />` : html`<span class="muted">A former member</span>`;

/** What the reader works on. A test environment also has a coloured edge at the top of the window. */
export function Place() {
  const { about, person } = session;
  const environment = person?.app?.environment ?? about?.environment;
  useEffect(() => {
    document.body.dataset.environment = environment ?? "";
    return () => delete document.body.dataset.environment;
  }, [environment]);
  if (!about) return null;
  const name = person?.app?.name ?? about.name;
  return html`
    <div class="place">
      ${name && html`<span class="name break" title=${name}><${Foreign} text=${name} /></span>`}
      <span class="row">
        <${Environment} name=${environment} />
        ${person && html`<span class="muted small">${ROLES[about.role] ?? about.role}</span>`}
      </span>
    </div>
  `;
}

/** The last entry of the navigation: signs out, and for a person opens the menu. */
export function Account() {
  const { about, person } = session;
  if (person) return html`<${PersonMenu} ...${person} />`;
  return html`
    <button type="button" onClick=${() => signOut()}>
      <${Icon} name="out" />
      Sign out${KEYS[about?.scope] ?? ""}
    </button>
  `;
}

function PersonMenu({ person, app, apps }) {
  const menu = useRef(/** @type {any} */ (null));
  return html`
    <button type="button" popovertarget="account">
      <${Icon} name="person" />
      <span class="grow ellipsis"><${Foreign} text=${person.name ?? person.email ?? "You"} /></span>
      <${Icon} name="more" />
    </button>
    <div id="account" class="account" popover="auto" ref=${menu}>
      <div class="who">
        ${person.name && html`<div class="strong break"><${Foreign} text=${person.name} /></div>`}
        ${person.email && html`<div class="muted small break"><${Foreign} text=${person.email} /></div>`}
      </div>
      ${
        apps.length > 1 &&
        html`
          <div role="group" aria-label="Apps">
            ${apps.map((one) => html`<${AppChoice} key=${one.id} app=${one} isCurrent=${one.id === app?.id} />`)}
          </div>
        `
      }
      <div><${SignOutButtons} /></div>
    </div>
  `;
}

function AppChoice({ app, isCurrent }) {
  return html`
    <button
      type="button"
      aria-current=${isCurrent ? "true" : undefined}
      onClick=${() => !isCurrent && switchApp(app.id, url("/"))}
    >
      <span class="grow break">
        <${Foreign} text=${app.name} />
        <span class="muted small">${ROLES[app.role] ?? app.role}</span>
      </span>
      <${Environment} name=${app.environment} />
    </button>
  `;
}

function SignOutButtons() {
  const end = (everywhere) => async () => {
    try {
      await endSession(everywhere);
    } catch (error) {
      toast(`You are still signed in. ${explain(error)}`, "red");
    }
  };
  return html`
    <button type="button" onClick=${end(false)}>
      <${Icon} name="out" />
      Sign out
    </button>
    <button type="button" onClick=${end(true)}>
      <${Icon} name="out" />
      Sign out everywhere
    </button>
  `;
}

/** What a person sees who belongs to no app. */
export function NoApp() {
  const { person } = session.person ?? {};
  return html`
    <div class="page">
      <div class="card">
        <div class="empty">
          <${Icon} name="person" />
          <h1>You belong to no app</h1>
          <p>
            You have signed in${person?.email && html` as <${Foreign} text=${person.email} />`}. Ask an admin of your
            app to invite your email address, then sign in again.
          </p>
          <div class="row">
            <a class="button primary" href=${loginAddress()}>Sign in again</a>
          </div>
        </div>
      </div>
    </div>
  `;
}
