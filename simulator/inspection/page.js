"use strict";

const PAGE_SIZE = 50;
const REFRESH_MILLISECONDS = 2000;
const OVERVIEW = "overview";

let place = { section: OVERVIEW, kind: "", offset: 0, search: "" };
let shownState = "";
let selected = "";

const byId = (id) => document.getElementById(id);

async function api(path, method = "GET") {
  const answer = await fetch(path, { method });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error.message);
  return body;
}

/** Make an element; text is never read as HTML. */
function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** "SalesOrderLineRet" is "Sales order line". */
function words(name) {
  const text = name
    .replace(/(Ret|Ref)$/, "")
    .replace(/^Txn(?=[A-Z])/, "Transaction")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return text.charAt(0) + text.slice(1).replace(/\b([A-Z])(?=[a-z])/g, (letter) => letter.toLowerCase());
}

function plural(name) {
  if (name === "StandardTerms" || name === "DateDrivenTerms") return words(name);
  const text = words(name);
  if (text.endsWith("y")) return `${text.slice(0, -1)}ies`;
  return /(s|x|ch)$/.test(text) ? `${text}es` : `${text}s`;
}

function amount(text) {
  if (text === "" || text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return text ?? "";
  const [whole, fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

function link(section, kind, label, count) {
  const isHere = place.section === section && place.kind === kind;
  return make(
    "a",
    { href: `#${[section, kind].filter(Boolean).join("/")}`, "aria-current": isHere && "page" },
    make("span", { text: label }),
    count === null ? null : make("span", { class: "count", text: amount(String(count)) }),
  );
}

function showNavigation(books) {
  const kinds = (section, counts) =>
    Object.entries(counts)
      .sort(([first], [second]) => first.localeCompare(second))
      .map(([kind, count]) => link(section, kind, plural(kind), count));
  byId("navigation").replaceChildren(
    make("h3", { text: "Books" }),
    link(OVERVIEW, "", "Overview", null),
    link("ledger", "", "Ledger", null),
    link("executed", "", "Executed requests", books.executed),
    link("problems", "", "Problems", books.problems),
    make("h3", { text: "Transactions" }),
    ...kinds("transactions", books.transactions),
    make("h3", { text: "Lists" }),
    ...kinds("lists", books.lists),
  );
}

function showHeader(books) {
  document.title = `${books.company} · simulated company`;
  byId("company").textContent = books.company;
  byId("facts").textContent = `${books.product} · ${books.country} · qbXML ${books.qbxml_version} · ${books.path}`;
  const good = books.is_balanced && books.problems === 0;
  byId("balance").className = `badge ${good ? "good" : "bad"}`;
  byId("balance").textContent = good
    ? "Books balance"
    : books.is_balanced
      ? `${books.problems} problems`
      : "Out of balance";
}

function table(columns, rows, { open = null, foot = null } = {}) {
  if (rows.length === 0) return make("p", { class: "empty", text: "Nothing here." });
  const head = make(
    "tr",
    {},
    ...columns.map((column) => make("th", { text: column.title, class: column.number ? "number" : "", scope: "col" })),
  );
  const body = rows.map((row) => {
    const cells = columns.map((column, index) => {
      const value = row[column.key] ?? "";
      const text =
        column.key === "IsPaid" ? { true: "Yes", false: "No" }[value] : column.number ? amount(value) : String(value);
      const classes = [column.number && "number", FIXED.has(column.key) && "fixed", column.tone && column.tone(row)];
      const cell = make("td", { class: classes.filter(Boolean).join(" ") });
      cell.append(
        index === 0 && open ? make("button", { type: "button", class: "link", text: text || "(no name)" }) : text,
      );
      return cell;
    });
    const line = make("tr", { "data-open": open !== null, "aria-selected": row.id === selected && "true" }, ...cells);
    if (open) line.addEventListener("click", () => open(row));
    return line;
  });
  const parts = [make("thead", {}, head), make("tbody", {}, ...body)];
  if (foot) parts.push(make("tfoot", {}, foot));
  return make("table", {}, ...parts);
}

const SHOWN_COLUMNS = {
  number: "Number",
  date: "Date",
  party: "Name",
  name: "Name",
  amount: "Amount",
  BalanceRemaining: "Open",
  OpenAmount: "Open",
  IsPaid: "Paid",
  AccountType: "Type",
  Balance: "Balance",
  TotalBalance: "With jobs",
  QuantityOnHand: "On hand",
  SalesPrice: "Price",
  Phone: "Phone",
};
const FIXED = new Set(["date", "number", "Phone", "IsPaid"]);
const NUMBERS = new Set([
  "amount",
  "BalanceRemaining",
  "OpenAmount",
  "Balance",
  "TotalBalance",
  "QuantityOnHand",
  "SalesPrice",
]);

function columnsOf(rows) {
  const names = new Set(rows.flatMap((row) => Object.keys(row)));
  return Object.entries(SHOWN_COLUMNS)
    .filter(([key]) => names.has(key))
    .map(([key, title]) => ({
      key,
      title,
      number: NUMBERS.has(key),
      tone: (row) => (row.is_active === false || row.is_void ? "dim" : ""),
    }));
}

async function showRecords() {
  const query = new URLSearchParams({
    view: "summary",
    offset: place.offset,
    limit: PAGE_SIZE,
    search: place.search,
    order: "newest",
  });
  const page = await api(`${place.section}/${place.kind}?${query}`);
  return { page, content: table(columnsOf(page.data), page.data, { open: (row) => showRecord(row.id) }) };
}

async function showLedger() {
  if (place.kind) {
    const page = await api(`ledger/${encodeURIComponent(place.kind)}?offset=${place.offset}&limit=${PAGE_SIZE}`);
    const columns = [
      { key: "date", title: "Date" },
      { key: "type", title: "Type" },
      { key: "number", title: "Number" },
      { key: "name", title: "Name" },
      { key: "debit", title: "Debit", number: true },
      { key: "credit", title: "Credit", number: true },
      { key: "balance", title: "Balance", number: true },
    ];
    return {
      page,
      title: page.account,
      content: table(columns, page.data, { open: (row) => showRecord(row.id, row.type) }),
    };
  }
  const { accounts } = await api("ledger");
  const books = await api("books");
  const columns = [
    { key: "account", title: "Account" },
    { key: "type", title: "Type" },
    { key: "debit", title: "Debit", number: true },
    { key: "credit", title: "Credit", number: true },
  ];
  const foot = make(
    "tr",
    {},
    make("td", { text: "Total", colspan: "2" }),
    make("td", { class: "number", text: amount(books.debits) }),
    make("td", { class: "number", text: amount(books.credits) }),
  );
  return {
    page: null,
    content: table(columns, accounts, {
      open: (row) => {
        location.hash = `ledger/${row.id}`;
      },
      foot,
    }),
  };
}

async function showExecuted() {
  const books = await api("books");
  const first = Math.max(books.executed - PAGE_SIZE - place.offset, 0);
  const limit = Math.min(PAGE_SIZE, Math.max(books.executed - place.offset, 0));
  const page = await api(`executed?offset=${first}&limit=${limit}`);
  const columns = [
    { key: "name", title: "Request" },
    { key: "application", title: "Application" },
    { key: "request_id", title: "requestID" },
    { key: "status_code", title: "Status", tone: (row) => (row.succeeded ? "" : "error") },
  ];
  const rows = page.data.reverse().map((row) => ({ ...row, status_code: String(row.status_code) }));
  return { page: { ...page, offset: place.offset, limit: PAGE_SIZE }, content: table(columns, rows) };
}

async function showProblems() {
  const { data } = await api("problems");
  if (data.length === 0)
    return {
      page: null,
      content: make("p", { class: "empty", text: "No problems: the books balance, and no write was executed twice." }),
    };
  return {
    page: null,
    content: table(
      [{ key: "text", title: "Problem", tone: () => "error" }],
      data.map((text) => ({ text })),
    ),
  };
}

async function showOverview() {
  const books = await api("books");
  const { accounts } = await api("ledger");
  const total = (type) =>
    accounts
      .filter((account) => account.type === type)
      .reduce((sum, account) => sum + Math.round(Number(account.debit || -account.credit) * 100), 0);
  const card = (label, value) =>
    make("div", { class: "card" }, make("strong", { text: value }), make("span", { text: label }));
  const cents = (value) => amount((value / 100).toFixed(2));
  const sum = (counts) => amount(String(Object.values(counts).reduce((one, other) => one + other, 0)));
  const cards = make(
    "div",
    { class: "cards" },
    card("In the bank", cents(total("Bank"))),
    card("Owed by customers", cents(total("AccountsReceivable"))),
    card("Owed to vendors", cents(-total("AccountsPayable"))),
    card("Income", cents(-total("Income"))),
    card("Transactions", sum(books.transactions)),
    card("List objects", sum(books.lists)),
    card("Requests executed", amount(String(books.executed))),
    card("Writes executed", amount(String(books.executed_writes))),
  );
  const recent = await api("transactions/Invoice?view=summary&order=newest&limit=8");
  const section = make(
    "div",
    { class: "section" },
    make("h3", { text: "Latest invoices" }),
    table(columnsOf(recent.data), recent.data, { open: (row) => showRecord(row.id, "Invoice", "transactions") }),
  );
  return { page: null, content: make("div", {}, cards, section) };
}

/** Show fields as a definition list; aggregates that repeat, such as lines, as boxes of their own. */
function fieldsOf(record) {
  const list = make("dl");
  const boxes = [];
  for (const [name, value] of Object.entries(record)) {
    if (Array.isArray(value) && typeof value[0] === "object") {
      boxes.push(
        make("h3", { text: words(name) }),
        ...value.map((each) => make("div", { class: "line" }, ...fieldsOf(each))),
      );
    } else {
      const text = Array.isArray(value)
        ? value.join(", ")
        : typeof value === "object"
          ? (value.FullName ?? Object.values(value).join(", "))
          : value;
      list.append(make("dt", { text: words(name) }), make("dd", { text }));
    }
  }
  return [list, ...boxes];
}

async function showRecord(id, kind = place.kind, section = "transactions") {
  const from = place.section === "lists" ? "lists" : section;
  const found = await api(`${from}/${kind}/${encodeURIComponent(id)}`);
  selected = id;
  const { record } = found;
  const title = record.RefNumber ?? record.FullName ?? record.Name ?? id;
  const parts = [
    make(
      "div",
      { class: "head" },
      make("div", {}, make("span", { class: "dim", text: words(found.type) }), make("h2", { text: title })),
      make("button", { type: "button", text: "Close", onclick: closeRecord }),
    ),
    ...fieldsOf(record),
  ];
  if (found.postings?.length) {
    const columns = [
      { key: "account", title: "Account" },
      { key: "debit", title: "Debit", number: true },
      { key: "credit", title: "Credit", number: true },
    ];
    parts.push(make("h3", { text: "Ledger" }), table(columns, found.postings));
  }
  if (found.links?.length) {
    const columns = [
      { key: "type", title: "Linked" },
      { key: "number", title: "Number" },
      { key: "amount", title: "Amount", number: true },
    ];
    parts.push(
      make("h3", { text: "Linked transactions" }),
      table(columns, found.links, { open: (row) => showRecord(row.id, row.type) }),
    );
  }
  byId("detail").replaceChildren(...parts);
  byId("detail").hidden = false;
  byId("detail").scrollTop = 0;
  for (const row of document.querySelectorAll("tr[aria-selected]")) row.removeAttribute("aria-selected");
}

function closeRecord() {
  selected = "";
  byId("detail").hidden = true;
}

const SECTIONS = {
  [OVERVIEW]: { title: () => "Overview", show: showOverview },
  ledger: { title: () => "Ledger", show: showLedger },
  executed: { title: () => "Executed requests", show: showExecuted },
  problems: { title: () => "Problems", show: showProblems },
  transactions: { title: () => plural(place.kind), show: showRecords, searches: true },
  lists: { title: () => plural(place.kind), show: showRecords, searches: true },
};

async function show() {
  const here = place;
  const section = SECTIONS[place.section];
  document.querySelector(".search").hidden = !section.searches;
  try {
    const books = await api("books");
    const { page, content, title = section.title() } = await section.show();
    if (here !== place) return; // another view was opened meanwhile
    showHeader(books);
    showNavigation(books);
    shownState = stateOf(books);
    byId("heading").textContent = title;
    byId("content").replaceChildren(content);
    showPager(page);
  } catch (error) {
    if (here !== place) return;
    byId("content").replaceChildren(make("p", { class: "empty error", text: error.message }));
    byId("pager").hidden = true;
  }
}

function showPager(page) {
  byId("pager").hidden = page === null || page.total <= PAGE_SIZE;
  if (page === null) return;
  byId("range").textContent =
    `${page.offset + 1}–${Math.min(page.offset + PAGE_SIZE, page.total)} of ${amount(String(page.total))}`;
  byId("previous").disabled = page.offset === 0;
  byId("next").disabled = page.offset + PAGE_SIZE >= page.total;
}

const stateOf = (books) =>
  JSON.stringify([books.executed, books.deleted, books.lists, books.transactions, books.problems]);

function go(change) {
  place = { ...place, ...change };
  show();
}

function readAddress() {
  const [section, kind = ""] = location.hash.slice(1).split("/").map(decodeURIComponent);
  closeRecord();
  byId("search").value = "";
  go({ section: section in SECTIONS ? section : OVERVIEW, kind, offset: 0, search: "" });
  byId("content").scrollTop = 0;
}

let typing = 0;
byId("search").addEventListener("input", (event) => {
  clearTimeout(typing);
  typing = setTimeout(() => go({ search: event.target.value, offset: 0 }), 200);
});
byId("previous").addEventListener("click", () => go({ offset: Math.max(place.offset - PAGE_SIZE, 0) }));
byId("next").addEventListener("click", () => go({ offset: place.offset + PAGE_SIZE }));
byId("reset").addEventListener("click", async () => {
  if (!confirm("Put the company back to its state when the simulator started?")) return;
  await api("reset", "POST");
  closeRecord();
  show();
});
addEventListener("hashchange", readAddress);
setInterval(async () => {
  if (document.hidden) return;
  try {
    if (stateOf(await api("books")) !== shownState) show();
  } catch {
    byId("balance").className = "badge bad";
    byId("balance").textContent = "The simulator has stopped";
  }
}, REFRESH_MILLISECONDS);
readAddress();
