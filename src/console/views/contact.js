// The contact of the app on the onboarding page: a form and a preview.
import { html, useState } from "../vendor/preact.js";
import { call, useLoad } from "../lib/api.js";
import { session } from "../lib/session.js";
import { Button, explain, Field, Foreign, Note, Problem, SkeletonCard, toast, useTitle } from "../lib/ui.js";

const FIELDS = ["name", "logo_url", "phone", "email"];

export default function YourContact() {
  useTitle("Your contact");
  const load = useLoad((signal) => call("GET", ["contact"], { signal }), []);
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>Your contact</h1>
          <p class="sub">The onboarding page shows this to your customers when your app asks for access.</p>
        </div>
      </div>
      ${
        load.data
          ? html`<${Contact} stored=${load.data.data} saved=${(data) => load.reload({ data })} />`
          : load.error
            ? html`<${Problem} error=${load.error} retry=${load.reload} what="The contact could not be loaded." />`
            : html`
              <div class="columns">
                <${SkeletonCard} lines=${7} />
                <${SkeletonCard} lines=${4} />
              </div>
            `
      }
    </div>
  `;
}

function Contact({ stored, saved }) {
  const initial = Object.fromEntries(FIELDS.map((name) => [name, stored[name] ?? ""]));
  const [values, setValues] = useState(initial);
  const [problems, setProblems] = useState({});
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const changes = Object.fromEntries(
    FIELDS.filter((name) => values[name].trim() !== initial[name]).map((name) => [name, values[name].trim() || null]),
  );
  const changed = Object.keys(changes).length > 0;
  const show = (contact) => setValues(Object.fromEntries(FIELDS.map((name) => [name, contact[name] ?? ""])));
  const forget = () => {
    setProblems({});
    setError(null);
  };
  const submit = async (event) => {
    event.preventDefault();
    if (!changed) return;
    setBusy(true);
    forget();
    try {
      const response = await call("PATCH", ["contact"], { body: changes });
      show(response.data);
      saved(response);
      toast("The contact is saved. Customers see it now.");
    } catch (problem) {
      const known = Object.fromEntries(
        (problem.details?.problems ?? [])
          .filter(({ field }) => field in values)
          .map(({ field, message }) => [field, message]),
      );
      setProblems(known);
      setError(Object.keys(known).length ? null : problem);
    }
    setBusy(false);
  };
  const bind = (name) => ({
    value: values[name],
    onInput: (event) => setValues({ ...values, [name]: event.target.value }),
    readOnly: !session.may("change_contact"),
  });
  return html`
    <div class="columns">
      <form class="card" onSubmit=${submit} noValidate>
        <header><h2>Contact</h2></header>
        <div class="body stack">
          <${Field}
            label="Name"
            problem=${problems.name}
            help="The name that your customers know you by. QuickBooks shows it for connections that you create from now on."
          >
            ${(control) => html`<input ...${control} ...${bind("name")} maxlength="80" autocomplete="organization" />`}
          <//>
          <${Field}
            label="Phone"
            problem=${problems.phone}
            help="The number that customers call if a step does not work."
          >
            ${(control) => html`
              <input
                ...${control}
                ...${bind("phone")}
                type="tel"
                maxlength="40"
                autocomplete="off"
                placeholder="+1 555 010 0199"
              />
            `}
          <//>
          <${Field} label="Email" problem=${problems.email}>
            ${(control) => html`
              <input
                ...${control}
                ...${bind("email")}
                type="email"
                maxlength="315"
                autocomplete="off"
                placeholder="help@example.com"
                spellcheck=${false}
              />
            `}
          <//>
          <${Field}
            label="Logo URL"
            problem=${problems.logo_url}
            help="An https address of a square picture. It is shown 48 pixels wide."
          >
            ${(control) => html`
              <input
                ...${control}
                ...${bind("logo_url")}
                inputmode="url"
                maxlength="2048"
                placeholder="https://example.com/logo.png"
                spellcheck=${false}
              />
            `}
          <//>
          ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
          ${
            session.may("change_contact")
              ? html`
                <div class="row end">
                  <${Button}
                    disabled=${!changed || busy}
                    onClick=${() => {
                      show(stored);
                      forget();
                    }}
                  >
                    Reset
                  <//>
                  <${Button} kind="primary" type="submit" disabled=${!changed || busy}>Save<//>
                </div>
              `
              : html`
                <p class="muted small">${session.refusal}</p>
              `
          }
        </div>
      </form>
      <${Preview} contact=${values} />
    </div>
  `;
}

/** Shows the card of the onboarding page. The console loads no pictures of other hosts, so the logo is only a place. */
function Preview({ contact }) {
  const [name, logo, phone, email] = FIELDS.map((field) => contact[field].trim());
  return html`
    <section class="card" aria-label="Preview for customers">
      <header><h2>Preview for customers</h2></header>
      <div class="body stack">
        <div class="requester">
          ${logo && html`<span class="logo" aria-hidden="true">Logo</span>`}
          <div class="stack tight">
            <p>
              <strong class="break"><${Foreign} text=${name || "An application"} /></strong> asks for access to your
              company file in QuickBooks.
            </p>
            ${
              (phone || email) &&
              html`
                <p class="row small">
                  Questions? ${phone && html`<span class="link">Phone <${Foreign} text=${phone} /></span>`}
                  ${email && html`<span class="link break"><${Foreign} text=${email} /></span>`}
                </p>
              `
            }
          </div>
        </div>
        ${
          !phone &&
          !email &&
          html`
            <${Note} tone="amber">
              <p>Without a phone number or an email address, customers who need help cannot reach you.</p>
            <//>
          `
        }
        ${
          logo &&
          html`
            <p class="muted small">
              The customer's browser loads the logo from${" "}
              ${hostOf(logo) ? html`<span class="break"><${Foreign} text=${hostOf(logo)} /></span>` : "its address"}.
              This preview shows a placeholder.
            </p>
          `
        }
      </div>
    </section>
  `;
}

function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return null;
  }
}
