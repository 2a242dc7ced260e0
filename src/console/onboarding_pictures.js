// Drawings for the onboarding page: the windows of QuickBooks and the Web Connector in outline, with the place to
// click.
import { html } from "./vendor/preact.js";

const INK = "var(--text)";
const FAINT = "var(--line-strong)";
const MUTED = "var(--muted)";
const ACCENT = "var(--accent)";

const Text = ({ x, y, size = 13, weight = 400, fill = INK, anchor = "start", children }) => html`
  <text
    x=${x}
    y=${y}
    font-size=${size}
    font-weight=${weight}
    text-anchor=${anchor}
    style=${{ fill, fontFamily: "var(--sans)" }}
  >
    ${children}
  </text>
`;

const Box = ({ x, y, w, h, r = 4, fill = "var(--surface)", stroke = FAINT, width = 1 }) => html`
  <rect x=${x} y=${y} width=${w} height=${h} rx=${r} style=${{ fill, stroke, strokeWidth: width }} />
`;

const Window = ({ title, label, height = 250, children }) => html`
  <svg viewBox=${`0 0 640 ${height}`} role="img" aria-label=${label}>
    <${Box} x=${24} y=${18} w=${592} h=${height - 36} r=${8} />
    <path d="M24 46 H616" style=${{ stroke: FAINT }} />
    <${Text} x=${40} y=${37} weight=${600}>${title}<//>
    <path d="M592 27l10 10M602 27l-10 10" style=${{ stroke: MUTED, strokeWidth: 1.5 }} />
    ${children}
  </svg>
`;

/** A ring around the place to click. */
const Here = ({ x, y, w, h }) => html`
  <rect x=${x} y=${y} width=${w} height=${h} rx="8" style=${{ fill: "none", stroke: ACCENT, strokeWidth: 3 }} />
`;

const Radio = ({ y, on, children }) => html`
  <circle
    cx="62"
    cy=${y - 4}
    r="7"
    style=${{ fill: "var(--surface)", stroke: on ? ACCENT : MUTED, strokeWidth: 1.5 }}
  />
  ${on && html`<circle cx="62" cy=${y - 4} r="3.5" style=${{ fill: ACCENT }} />`}
  <${Text} x=${80} y=${y}>${children}<//>
`;

const Check = ({ x, y, on }) => html`
  <${Box}
    x=${x}
    y=${y}
    w=${15}
    h=${15}
    r=${3}
    stroke=${on ? ACCENT : MUTED}
    fill=${on ? ACCENT : "var(--surface)"}
  />
  ${
    on &&
    html`<path d="M${x + 3} ${y + 8}l3 3 6-7" style=${{ fill: "none", stroke: "var(--surface)", strokeWidth: 2 }} />`
  }
`;

/** The Web Connector's question after a `.qwc` file was opened. */
/** The name of the application, as far as the windows have space for it. */
const Application = ({ x, y, name }) => html`
  <${Text} x=${x} y=${y} weight=${600}>${name.length > 28 ? `${name.slice(0, 27)}…` : name}<//>
`;

export const Authorize = ({ name }) => html`
  <${Window}
    title="Authorize New Web Service"
    label="The Web Connector asks whether to authorize a new web service; OK is marked."
    height=${234}
  >
    <${Text} x=${54} y=${78}>The following web service has asked to be added:<//>
    <${Text} x=${54} y=${106} size=${12} fill=${MUTED}>Application name<//>
    <${Application} x=${200} y=${106} name=${name} />
    <${Text} x=${54} y=${128} size=${12} fill=${MUTED}>Address<//>
    <${Text} x=${200} y=${128}>https://…<//>
    <${Text} x=${54} y=${156}>Do you want to grant it access?<//>
    <${Box} x=${412} y=${166} w=${90} h=${27} fill="var(--accent-soft)" stroke=${ACCENT} />
    <${Text} x=${447} y=${184}>OK<//>
    <${Box} x=${512} y=${166} w=${90} h=${27} />
    <${Text} x=${535} y=${184}>Cancel<//>
    <${Here} x=${406} y=${160} w=${102} h=${39} />
  <//>
`;

export const AllowAccess = () => html`
  <${Window}
    title="QuickBooks - Application with No Certificate"
    height=${384}
    label="QuickBooks warns that it cannot verify the developer and asks whether the application may access the company file. Yes, whenever this QuickBooks company file is open, is chosen. The user under Login as, the box for personal data, and Continue are marked."
  >
    <path d="M66 60l15 26H51z" style=${{ fill: "var(--amber-soft)", stroke: "var(--amber)", strokeWidth: 1.5 }} />
    <${Text} x=${63.5} y=${82} weight=${700} fill="var(--amber)">!<//>
    <${Text} x=${94} y=${70}>An application without a certificate asks for access to your company file.<//>
    <${Text} x=${94} y=${88} size=${12} fill=${MUTED}>QuickBooks cannot verify the developer's identity.<//>
    <${Text} x=${54} y=${122} weight=${600}>Do you want to allow this application to access this company file?<//>
    <${Radio} y=${150}>No<//>
    <${Radio} y=${175}>Yes, prompt each time<//>
    <${Radio} y=${200} on=${true}>Yes, whenever this QuickBooks company file is open<//>
    <${Radio} y=${225}>Yes, always; allow access even if QuickBooks is not running<//>
    <${Here} x=${46} y=${182} w=${402} h=${28} />
    <${Text} x=${80} y=${255} size=${12} fill=${MUTED}>Login as<//>
    <${Box} x=${140} y=${239} w=${170} h=${24} />
    <${Text} x=${150} y=${256} size=${12}>Admin<//>
    <path d="M294 249l5 5 5-5" style=${{ fill: "none", stroke: MUTED, strokeWidth: 1.5 }} />
    <${Text} x=${322} y=${255} size=${12} fill=${ACCENT} weight=${600}>only with “Yes, always”<//>
    <${Check} x=${54} y=${278} on=${false} />
    <${Text} x=${80} y=${290} size=${12}>
      Allow this application to access personal data such as Social Security Numbers
    <//>
    <${Text} x=${80} y=${306} size=${12} fill=${ACCENT} weight=${600}>leave it unticked<//>
    <${Box} x=${412} y=${318} w=${90} h=${27} fill="var(--accent-soft)" stroke=${ACCENT} />
    <${Text} x=${423} y=${336}>Continue…<//>
    <${Box} x=${512} y=${318} w=${90} h=${27} />
    <${Text} x=${535} y=${336}>Cancel<//>
    <${Here} x=${406} y=${312} w=${102} h=${39} />
  <//>
`;

/** What QuickBooks shows after Continue. */
export const AccessGranted = ({ name }) => html`
  <${Window}
    title="Access Confirmation"
    height=${206}
    label="QuickBooks confirms that the application has access to the company file; Done is marked."
  >
    <${Text} x=${54} y=${78}>You have given this application access to your company file:<//>
    <${Application} x=${54} y=${104} name=${name} />
    <${Text} x=${54} y=${124} size=${12} fill=${MUTED}>
      It may read and modify data while the company file is open.
    <//>
    <${Box} x=${512} y=${138} w=${90} h=${27} fill="var(--accent-soft)" stroke=${ACCENT} />
    <${Text} x=${540} y=${156}>Done<//>
    <${Here} x=${506} y=${132} w=${102} h=${39} />
  <//>
`;

const Row = ({ name, auto, password }) => html`
  <${Box} x=${40} y=${86} w=${560} h=${86} r=${6} fill="var(--subtle)" />
  <${Check} x=${54} y=${102} on=${auto} />
  <${Application} x=${80} y=${114} name=${name} />
  <${Text} x=${80} y=${134} size=${12} fill=${MUTED}>Not run yet<//>
  <${Check} x=${314} y=${102} on=${auto} />
  <${Text} x=${336} y=${114}>Auto-Run<//>
  <${Box} x=${430} y=${98} w=${156} h=${26} stroke=${password ? ACCENT : FAINT} />
  <${Text} x=${440} y=${116} fill=${MUTED}>${password ? "••••••••••••" : "Password"}<//>
  <${Text} x=${430} y=${160} size=${12} fill=${MUTED}>Last run: –<//>
`;

const Toolbar = () => html`
  <${Box} x=${40} y=${56} w=${130} h=${23} />
  <${Text} x=${54} y=${72} size=${12}>Update Selected<//>
  <${Box} x=${178} y=${56} w=${138} h=${23} />
  <${Text} x=${190} y=${72} size=${12}>Add an Application<//>
`;

export const TypePassword = ({ name }) => html`
  <${Window}
    title="QuickBooks Web Connector"
    label="The Web Connector's window with the application; its password field is marked."
  >
    <${Toolbar} />
    <${Row} name=${name} password=${true} />
    <${Here} x=${422} y=${90} w=${172} h=${42} />
    <${Text} x=${594} y=${212} anchor="end" size=${12} fill=${ACCENT} weight=${600}>
      Click here, paste, press Enter
    <//>
    <path d="M508 196V168" style=${{ stroke: ACCENT, strokeWidth: 2 }} />
  <//>
`;

export const TickAutoRun = ({ name }) => html`
  <${Window}
    title="QuickBooks Web Connector"
    label="The Web Connector's window; the application's box, Auto-Run and Update Selected are marked."
  >
    <${Toolbar} />
    <${Row} name=${name} auto=${true} password=${true} />
    <${Here} x=${46} y=${94} w=${31} h=${31} />
    <${Here} x=${306} y=${94} w=${102} h=${31} />
    <${Here} x=${34} y=${51} w=${142} h=${33} />
    <${Text} x=${54} y=${206} size=${12} fill=${ACCENT} weight=${600}>
      Tick both boxes, then choose Update Selected
    <//>
  <//>
`;
