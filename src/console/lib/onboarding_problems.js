// What a customer can do about each problem between the Web Connector and QuickBooks, by the reason of the error. Texts
// of the API name its calls; these name what is on the customer's screen.

const UPDATE = "Then choose Update Selected in the Web Connector.";
const PREFERENCES =
  "In QuickBooks: Edit → Preferences → Integrated Applications → Company Preferences. Tick the box in front of the application, choose Properties, and allow it to read and modify this company file.";
const AS_ADMIN = "Log in to the company file as Admin, in single-user mode.";

/** Where a step of the setup has to be done again: 1 opens the file, 2 the program, 3 gives access. */
const FILE = 1;
const PROGRAM = 2;
const ACCESS = 3;

/** Returns the last part of a Windows path: people know their file by its name. */
export const fileName = (path) => (path ?? "").split(/[\\/]/).pop();

/** Returns the file that the customer should open: "the file Acme.qbw", or "the right company file". */
const rightFile = (progress) => {
  const { company_name: company } = progress;
  const name = fileName(pathOf(progress));
  if (!name) return company ? `the company file of ${company}` : "the right company file";
  return `the file ${company ? `${company} (${name})` : name}`;
};
const openFile = ({ problem }) => {
  const name = fileName(problem.path);
  if (problem.company_name && name) return `${problem.company_name} (${name})`;
  return problem.company_name ?? (name || "another file");
};
/** Returns the path of the company file, or null: a connection without one uses the file that is open. */
const pathOf = ({ company_file: file, company_file_paths: paths }) => paths?.[0] || file || null;

const restart = (title) => ({
  title,
  step: FILE,
  steps: () => [
    "Close every dialog in QuickBooks, then close QuickBooks and the Web Connector.",
    "Open QuickBooks and the company file again, then the Web Connector.",
    UPDATE,
  ],
});
const allow = (title) => ({ title, step: ACCESS, steps: () => [AS_ADMIN, PREFERENCES, UPDATE] });
const repair = (title) => ({
  title,
  step: PROGRAM,
  steps: () => [
    "Install the newest QuickBooks Web Connector, and install the updates of QuickBooks (Help → Update QuickBooks).",
    "Restart the computer, and open QuickBooks and the company file.",
    UPDATE,
  ],
});
const tooOld = (title) => ({
  title,
  step: PROGRAM,
  steps: () => [
    "Install the updates of QuickBooks: Help → Update QuickBooks.",
    "If QuickBooks is older than 2007 or a Basic edition, it cannot be connected. Call whoever sent you this link.",
    UPDATE,
  ],
});
const wait = (title) => ({
  title,
  step: FILE,
  steps: () => ["Wait until QuickBooks has finished what it is doing.", UPDATE],
});

const PROBLEMS = {
  company_file_mismatch: {
    title: (progress) => `Open ${rightFile(progress)}. You have ${openFile(progress)} open.`,
    step: FILE,
    steps: (progress) => [
      `In QuickBooks, choose File → Open or Restore Company, and open ${pathOf(progress) ?? "the company file that belongs to this setup"}.`,
      UPDATE,
      "If the file that is open is the right one, call whoever sent you this link. They can accept it.",
    ],
  },
  company_file_moved: {
    title: (progress) => `The file ${fileName(progress.problem.path)} is open in another location`,
    step: FILE,
    steps: (progress) => [
      `It is open at ${progress.problem.path}. It was at ${pathOf(progress) ?? "another location"} before.`,
      "If the open one is a copy or a restored backup, close it and open the file that you work with. Then choose Update Selected in the Web Connector.",
      "If you moved the file, call whoever sent you this link. They can accept its new location.",
    ],
  },
  company_file_cannot_be_opened: {
    title: (progress) => `QuickBooks cannot open ${pathOf(progress) ? fileName(pathOf(progress)) : "the company file"}`,
    step: FILE,
    steps: (progress) => [
      `Open ${pathOf(progress) ?? "the company file"} in QuickBooks yourself. If QuickBooks shows a message, do what it says: the file may need an update, or another computer may have it open in single-user mode.`,
      "Leave the file open.",
      UPDATE,
    ],
  },
  company_file_not_found: {
    title: (progress) => `QuickBooks cannot find ${pathOf(progress) ? fileName(pathOf(progress)) : "the company file"}`,
    step: FILE,
    steps: (progress) => [
      `Look for ${pathOf(progress) ?? "the company file"} on this computer. If it is on a server, check that the drive is connected.`,
      "Open the company file in QuickBooks and leave it open.",
      UPDATE,
      "If the file is in another location now, call whoever sent you this link.",
    ],
  },
  other_company_file_open: {
    title: (progress) => `Open ${rightFile(progress)}. QuickBooks has another one open.`,
    step: FILE,
    steps: (progress) => [
      `In QuickBooks, choose File → Open or Restore Company, and open ${pathOf(progress) ?? "the right company file"}.`,
      UPDATE,
    ],
  },
  company_file_in_other_mode: {
    title: "The company file is open in another mode",
    step: FILE,
    steps: () => [
      "In QuickBooks, choose File → Switch to Single-user Mode. If colleagues work in the file, ask them to close it for a few minutes.",
      UPDATE,
    ],
  },
  single_user_mode_needed: {
    title: "Another program uses the company file",
    step: FILE,
    steps: () => [
      "Close other programs that use QuickBooks, or choose File → Switch to Multi-user Mode in QuickBooks.",
      UPDATE,
    ],
  },
  modal_dialog: {
    title: "A dialog is open in QuickBooks",
    step: FILE,
    steps: () => ["Look at QuickBooks. Answer or close every dialog, also those behind other windows.", UPDATE],
  },
  quickbooks_not_running: {
    title: "QuickBooks is not running",
    step: FILE,
    steps: (progress) => [`Start QuickBooks and open ${pathOf(progress) ?? "the right company file"}.`, UPDATE],
  },
  company_file_not_open: {
    title: "No company file is open in QuickBooks",
    step: FILE,
    steps: (progress) => [`Open ${pathOf(progress) ?? "the right company file"} in QuickBooks.`, UPDATE],
  },
  quickbooks_starting: wait("QuickBooks is still starting"),
  lock_not_acquired: wait("QuickBooks is busy"),
  access_never_granted: allow("The application has no access to this company file yet"),
  no_permission: allow("The application may not use this company file"),
  access_denied: allow("QuickBooks denied access"),
  certificate_expired: allow("QuickBooks does not accept the application's certificate"),
  certificate_revoked: allow("QuickBooks does not accept the application's certificate"),
  scripts_not_allowed: allow("QuickBooks does not allow applications to connect"),
  remote_access_not_allowed: allow("QuickBooks does not allow applications to connect from another computer"),
  no_automatic_login: {
    title: "The application may not log in while QuickBooks is closed",
    step: ACCESS,
    steps: () => [
      "Leave QuickBooks open with the company file, and choose Update Selected in the Web Connector.",
      `To let it work while QuickBooks is closed: ${AS_ADMIN} ${PREFERENCES} Also allow it to log in automatically.`,
    ],
  },
  edition_not_supported: tooOld("This edition of QuickBooks cannot be connected"),
  qbxml_version_not_supported: tooOld("This version of QuickBooks is too old"),
  request_not_supported: tooOld("This version of QuickBooks is too old"),
  message_set_not_supported: tooOld("This version of QuickBooks is too old"),
  request_not_parsed: tooOld("QuickBooks did not understand the request"),
  component_missing: repair("A part of QuickBooks is missing on this computer"),
  sdk_unreachable: repair("The Web Connector cannot reach QuickBooks"),
  request_processor_missing: repair("A part of QuickBooks is missing on this computer"),
  quickbooks_not_registered: repair("QuickBooks has to be registered on this computer"),
  interface_not_supported: repair("The Web Connector and QuickBooks are not compatible"),
  quickbooks_cannot_be_started: {
    title: "The Web Connector cannot start QuickBooks",
    step: FILE,
    steps: () => [
      "Start QuickBooks yourself, close every dialog, and open the company file.",
      "Run QuickBooks and the Web Connector as the same Windows user, and neither as administrator.",
      UPDATE,
    ],
  },
  quickbooks_not_accessible: restart("The Web Connector cannot reach QuickBooks"),
  quickbooks_session_lost: restart("The Web Connector lost its connection to QuickBooks"),
  session_misused: restart("The Web Connector and QuickBooks got out of sync"),
  company_file_access_failed: restart("QuickBooks failed when it opened the company file"),
  quickbooks_failed: restart("QuickBooks failed"),
  quickbooks_unreachable: restart("QuickBooks no longer answers"),
  quickbooks_ended: restart("QuickBooks was closed"),
  quickbooks_unexpected_error: restart("QuickBooks reported an unexpected error"),
  parameter_invalid: restart("QuickBooks reported an unexpected error"),
  told_by_quickbooks: restart("QuickBooks refused the request"),
  check_not_answered: restart("QuickBooks did not say which company is open"),
};
const OTHER = restart("The Web Connector called, but QuickBooks reported an error");

/**
 * Returns the text about the problem of a setup: a title, what to do in order, and the step of the page where it is
 * done. QuickBooks' own words help only a person whom the customer calls, so the page shows them small.
 */
export function problemText(progress) {
  const text = PROBLEMS[progress.problem.reason] ?? OTHER;
  return {
    title: typeof text.title === "function" ? text.title(progress) : text.title,
    step: text.step,
    steps: text.steps(progress),
  };
}

/** Returns the name of a product as people say it: "QuickBooks Enterprise 24". */
export const productName = (name) =>
  name
    .replace(/\bDesktop /, "")
    .replace(/ Solutions/, "")
    .replace(/: .* (?=\d)/, " ")
    .replace(/\.0$/, "");
