// The people of the app: members with their roles, and invitations. For those who may manage them.
import { html, useState } from "../vendor/preact.js";
import { ROLES } from "../lib/account.js";
import { call, useLoad } from "../lib/api.js";
import { ActionButton } from "../lib/dialogs.js";
import { Choice, FormDialog, useForm } from "../lib/form.js";
import { session } from "../lib/session.js";
import { day, fullTime } from "../lib/text.js";
import { Ago, Button, explain, Field, Foreign, Note, Problem, SkeletonRows, toast, useTitle } from "../lib/ui.js";

/** The roles with what each may do. */
const CHOICES = {
  viewer: [ROLES.viewer, "Reads everything and changes nothing."],
  support: [ROLES.support, "Also pauses, discards, queues failed requests again, and makes onboarding links."],
  editor: [ROLES.editor, "Also queues requests and writes."],
  approver: [ROLES.approver, "Reads everything, and approves or rejects writes. Queues nothing."],
  admin: [ROLES.admin, "Does everything: also connections, passwords, deletion, people and API keys."],
};

export default function People() {
  useTitle("People");
  const load = useLoad((signal) => call("GET", ["people"], { signal }), [], { showsAge: true });
  const [isInviting, setInviting] = useState(false);
  const { data: people, invitations } = load.data ?? {};
  const reload = () => load.reload();
  return html`
    <div class="page">
      <div class="page-head">
        <div>
          <h1>People</h1>
          <p class="sub">Who can sign in to this app, and what each of them may do.</p>
        </div>
        <div class="row">
          <${Button} kind="primary" icon="plus" onClick=${() => setInviting(true)}>Invite<//>
        </div>
      </div>
      ${load.error && html`<${Problem} error=${load.error} retry=${reload} what="The people could not be loaded." />`}
      ${(people || !load.error) && html`<${Members} people=${people} reload=${reload} />`}
      ${invitations?.length > 0 && html`<${Invitations} invitations=${invitations} reload=${reload} />`}
      ${isInviting && html`<${Invite} close=${() => setInviting(false)} reload=${reload} />`}
    </div>
  `;
}

function Members({ people, reload }) {
  const [changing, setChanging] = useState(null);
  return html`
    <section class="card" aria-label="Members">
      <header><h2>Members</h2></header>
      <div class="table-wrap">
        <table class="responsive">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Role</th>
              <th scope="col">Last sign-in</th>
              <th scope="col"><span class="hidden-visually">Actions</span></th>
            </tr>
          </thead>
          <tbody>
            ${
              people
                ? people.map(
                    (one) => html`<${Member} key=${one.id} one=${one} change=${setChanging} reload=${reload} />`,
                  )
                : html`<${SkeletonRows} rows=${3} columns=${4} />`
            }
          </tbody>
        </table>
      </div>
      ${changing && html`<${ChangeRole} one=${changing} close=${() => setChanging(null)} reload=${reload} />`}
    </section>
  `;
}

/** Returns how a member is called. A provider may give no name. */
const nameOf = (one) => one.name ?? one.email ?? "this member";

function Member({ one, change, reload }) {
  const isOwn = one.id === session.actorId;
  const remove = async () => {
    await call("DELETE", ["people", one.id]);
    toast(`${nameOf(one)} is removed from this app.`);
    reload();
  };
  return html`
    <tr>
      <td class="full">
        <span class="strong break"><${Foreign} text=${nameOf(one)} /></span>
        ${isOwn && html` <span class="tag">you</span>`}
        ${one.name && one.email && html`<div class="muted small break"><${Foreign} text=${one.email} /></div>`}
      </td>
      <td class="full">${ROLES[one.role] ?? one.role}</td>
      <td class="full" data-label="Last sign-in"><${Ago} at=${one.last_signed_in_at} /></td>
      <td class="full actions">
        <div class="row end">
          <${Button} kind="small" onClick=${() => change(one)} aria-label=${`Change the role of ${nameOf(one)}`}>
            Change role
          <//>
          <${ActionButton}
            kind="small"
            label="Remove"
            danger=${true}
            question=${isOwn ? "Remove yourself from this app?" : `Remove ${nameOf(one)}?`}
            explanation=${
              isOwn
                ? "You can no longer open this app. Another admin can invite you again."
                : "The access ends within minutes, also in open windows. What this person did stays in the audit log."
            }
            confirm="Remove"
            action=${remove}
          />
        </div>
      </td>
    </tr>
  `;
}

function Invitations({ invitations, reload }) {
  return html`
    <section class="card" aria-label="Invitations">
      <header><h2>Invitations</h2></header>
      <div class="table-wrap">
        <table class="responsive">
          <thead>
            <tr>
              <th scope="col">Email</th>
              <th scope="col">Role</th>
              <th scope="col">Open until</th>
              <th scope="col"><span class="hidden-visually">Actions</span></th>
            </tr>
          </thead>
          <tbody>
            ${invitations.map((one) => html`<${Invitation} key=${one.id} one=${one} reload=${reload} />`)}
          </tbody>
        </table>
      </div>
      <p class="foot">
        No email is sent. Tell people the address of this console: they sign in with the invited email address.
      </p>
    </section>
  `;
}

function Invitation({ one, reload }) {
  const withdraw = async () => {
    await call("DELETE", ["people", "invitations", one.id]);
    toast("The invitation is withdrawn.");
    reload();
  };
  return html`
    <tr>
      <td class="full">
        <span class="strong break"><${Foreign} text=${one.email} /></span>
        <div class="muted small">Invited <${Ago} at=${one.invited_at} /></div>
      </td>
      <td class="full">${ROLES[one.role] ?? one.role}</td>
      <td class="full" data-label="Open until" title=${fullTime(one.expires_at)}>${day(one.expires_at)}</td>
      <td class="full actions">
        <div class="row end">
          <${ActionButton}
            kind="small"
            label="Withdraw"
            question=${`Withdraw the invitation of ${one.email}?`}
            explanation="Nobody can accept it any more."
            action=${withdraw}
          />
        </div>
      </td>
    </tr>
  `;
}

function Invite({ close, reload }) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState("support");
  const form = useForm(async () => {
    await call("POST", ["people", "invitations"], { body: { email: email.trim(), role } });
    toast(`${email.trim()} is invited.`);
    close();
    reload();
  });
  const [{ problems, error }] = form;
  return html`
    <${FormDialog} title="Invite somebody" confirm="Invite" form=${form} canSend=${email.trim()} close=${close}>
      <${Field}
        label="Email"
        problem=${problems.email}
        help="The address with which this person signs in. No email is sent: tell the person the address of this console."
      >
        ${(control) => html`
          <input
            ...${control}
            type="email"
            autocomplete="off"
            spellcheck=${false}
            maxlength="320"
            value=${email}
            onInput=${(event) => setEmail(event.target.value)}
          />
        `}
      <//>
      <${Choice} label="Role" options=${CHOICES} value=${role} change=${setRole} />
      ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
    <//>
  `;
}

function ChangeRole({ one, close, reload }) {
  const [role, setRole] = useState(one.role);
  const form = useForm(async () => {
    await call("PATCH", ["people", one.id], { body: { role } });
    toast(`${nameOf(one)} has the role ${ROLES[role]} now.`);
    close();
    reload();
  });
  const [{ error }] = form;
  return html`
    <${FormDialog}
      title=${`The role of ${nameOf(one)}`}
      confirm="Change"
      form=${form}
      canSend=${role !== one.role}
      close=${close}
    >
      <${Choice} label="Role" options=${CHOICES} value=${role} change=${setRole} />
      ${error && html`<${Note} tone="red" role="alert"><p>${explain(error)}</p><//>`}
    <//>
  `;
}
