// Makes the types and the table of the resources: `books.customers.create(…)`, for each object of QuickBooks.
//
// `generate.mjs` writes what this module returns. A resource is an object that a query finds by its ListID or TxnID.
// Its methods follow from the requests that the object has.

/** Names that are plural already. */
const PLURALS = new Set(["Terms", "StandardTerms", "DateDrivenTerms"]);

/** The elements that own the number of a transaction. `ifExists` finds a transaction by its number and one of them. */
const OWNERS = ["CustomerRef", "VendorRef", "AccountRef", "BankAccountRef", "CreditCardAccountRef"];

/** Transactions with a number that has no owner, so `ifExists` cannot find them. */
const NUMBERED_OTHERWISE = new Set(["JournalEntry", "TransferInventory", "BuildAssembly"]);

/** Objects whose data extensions are private data of programs only. Users define fields for the others. */
const WITHOUT_CUSTOM_FIELDS = new Set(["Account", "OtherName"]);

const METHODS = ["create", "ensure", "get", "find", "list", "update", "delete", "void"];

/** Return the resource of each object that a query finds by its id, by its name in the client. */
export function resourcesOf(requests, responses) {
  const found = [];
  for (const [query, facts] of Object.entries(requests)) {
    const elements = particles(facts.content).map(([name]) => name);
    const key = ["ListID", "TxnID"].find((name) => elements.includes(name));
    const returned = responses[query];
    if (!query.endsWith("QueryRq") || !key || !Object.values(returned).every(Array.isArray)) continue;
    const name = query.replace(/QueryRq$/, "");
    found.push([camelCase(plural(name)), resource(name, key, requests, Object.keys(returned), elements)]);
  }
  return Object.fromEntries(found.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function resource(name, key, requests, returns, soughtBy) {
  const added = membersOf(requests[`${name}AddRq`]);
  const changed = membersOf(requests[`${name}ModRq`]);
  const sought = ["FullName", "RefNumber", "Name"].find((one) => soughtBy.includes(one));
  const isOwned = sought === "RefNumber" && !NUMBERED_OTHERWISE.has(name) && OWNERS.some((owner) => owner in added);
  const isOfList = key === "ListID";
  const has = {
    create: Object.keys(added).length > 0,
    ensure: Object.keys(added).length > 0 && (sought === "FullName" || isOwned),
    get: true,
    find: sought !== undefined,
    list: true,
    update: "EditSequence" in changed,
    delete: typesIn(requests[isOfList ? "ListDelRq" : "TxnDelRq"]).includes(name),
    void: !isOfList && typesIn(requests.TxnVoidRq).includes(name),
  };
  const ranges = [["FromModifiedDate"], ["ModifiedDateRangeFilter", "FromModifiedDate"]];
  return {
    name,
    returns,
    methods: METHODS.filter((method) => has[method]),
    key,
    sought,
    modified: ranges.find(([first]) => soughtBy.includes(first)) ?? [],
    hasLines: soughtBy.includes("IncludeLineItems"),
    addedLine: `${name}LineAdd` in added ? `${name}LineAdd` : undefined,
    changedLines: Object.keys(changed).filter((line) => /Line(Group)?Mod$/.test(line)),
    ifExists: isOfList && "EditSequence" in changed ? "update" : "return",
    customFields: soughtBy.includes("OwnerID") ? customFieldsOf(name, requests) : undefined,
  };
}

/** Return the type of an object in DataExtMod, if it can have custom fields. */
function customFieldsOf(name, requests) {
  const kind = name.startsWith("Item") && name !== "ItemReceipt" ? "Item" : name;
  const known = requests.DataExtModRq.types.filter(Array.isArray).flat();
  return known.includes(kind) && !WITHOUT_CUSTOM_FIELDS.has(kind) ? kind : undefined;
}

/** Return the elements of the object in an Add or a Mod: the type of each. */
function membersOf(facts) {
  if (!facts) return {};
  const [subject] = particles(facts.content);
  return elementsOf(facts.types[subject[2]], facts.types);
}

/** Return the elements of a content model: the type of each. */
const elementsOf = (group, types) =>
  Object.fromEntries(particles(group).map(([name, , kind]) => [name, typeof kind === "string" ? kind : types[kind]]));

/** Return the elements of a content model. */
const particles = (group) =>
  (group.choice ?? group.sequence).flatMap((particle) => (Array.isArray(particle) ? [particle] : particles(particle)));

/** Return the types of objects that a deletion, or a voiding, has. */
const typesIn = (facts) => facts.types[particles(facts.content)[0][2]];

function plural(name) {
  if (PLURALS.has(name)) return name;
  if (name.endsWith("y")) return `${name.slice(0, -1)}ies`;
  return /[sx]$/.test(name) ? `${name}es` : `${name}s`;
}

/** Return a name of QBXML as JavaScript writes it: `ARRefundCreditCards` is `arRefundCreditCards`. */
const camelCase = (name) => name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/, (first) => first.toLowerCase());

// The table

/** Return the module with what the client knows of each resource at run time. */
export function tableFile(requests, responses, found) {
  const changed = Object.values(found)
    .filter(({ methods }) => methods.includes("update"))
    .map(({ name }) => modOf(name, requests, responses));
  const parts = changed.flatMap(({ members }) =>
    Object.entries(members)
      .filter(([name, kind]) => name.endsWith("Address") && kind.sequence)
      .map(([name, kind]) => [name, particles(kind).map(([part]) => part)]),
  );
  const table = (entries) =>
    `{\n${entries.map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`).join("\n")}\n}`;
  return [
    "// What the client knows of the resources at run time.",
    '/** @import { Kind } from "../internal.js" */',
    "/** The resources by their names. @type {Record<string, Kind>} */",
    `export const KINDS = ${table(Object.entries(found))};`,
    "/** The parts of each address. @type {Record<string, string[]>} */",
    `export const PARTS = ${table(unique(parts))};`,
    "/** The lines in the groups of lines. @type {Record<string, string>} */",
    `export const GROUPS = ${table(unique(changed.flatMap(groupsOf)))};`,
    "/**",
    " * The fields of Mods, and of their lines, that the object has under another name, or null if QuickBooks does not return",
    " * them. @type {Record<string, Record<string, string | null>>}",
    " */",
    `export const RETURNED = ${table(unique(changed.flatMap(renamedIn)))};`,
  ];
}

/** Return entries by their names. Those of one name must be equal. */
function unique(entries) {
  const values = new Map();
  for (const [name, value] of entries) {
    if (values.has(name) && JSON.stringify(values.get(name)) !== JSON.stringify(value)) {
      throw new Error(`${name} has two values: the table needs the object in its key.`);
    }
    values.set(name, value);
  }
  return [...values].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Return the elements of a Mod, the types of its request, and the elements of the object that it returns. */
function modOf(name, requests, responses) {
  const facts = requests[`${name}ModRq`];
  return { name, members: membersOf(facts), types: facts.types, tree: responses[`${name}ModRq`][`${name}Ret`] };
}

/** Return the families of lines in a Mod, those in groups too: the elements of each. */
function linesOf({ members, types }) {
  const outer = Object.entries(members).filter(([name]) => /Line(Group)?Mod$/.test(name));
  return outer.flatMap(([name, kind]) => {
    const elements = elementsOf(kind, types);
    const inner = Object.entries(elements).filter(([one]) => one.endsWith("LineMod"));
    return [
      { name, elements, inner },
      ...inner.map(([one, of]) => ({ name: one, elements: elementsOf(of, types), inner: [] })),
    ];
  });
}

const groupsOf = (mod) => linesOf(mod).flatMap(({ name, inner }) => inner.map(([one]) => [name, one]));

/** Return the fields of a Mod, and of its lines, whose names in the object differ. */
function renamedIn(mod) {
  const lines = linesOf(mod);
  const isLine = (name) => lines.some((line) => line.name === name);
  const owners = [
    [mod.name, Object.keys(mod.members).filter((name) => name !== "EditSequence" && !isLine(name)), mod.tree],
    ...lines.map(({ name, elements }) => [
      name,
      Object.keys(elements).filter((one) => !isLine(one)),
      lineTree(name, mod.tree),
    ]),
    ...Object.entries(mod.members)
      .filter(([name, kind]) => name.endsWith("Address") && kind.sequence)
      .map(([name, kind]) => [name, particles(kind).map(([part]) => part), [mod.tree[name]].flat()[0]]),
  ];
  return owners
    .map(([owner, names, tree]) => [
      owner,
      Object.fromEntries(names.map((name) => [name, returnedName(name, tree)]).filter(([name, one]) => name !== one)),
    ])
    .filter(([, renamed]) => Object.keys(renamed).length > 0);
}

/** Return the elements of a line in an object, or in one of its groups. */
function lineTree(family, tree) {
  const name = family.replace(/Mod$/, "Ret");
  const trees = [tree, ...Object.values(tree)].map((one) => [one].flat()[0]);
  const found =
    trees.find((one) => typeof one === "object" && one !== null && name in one)?.[name] ?? tree.JournalDebitLine;
  return [found].flat()[0];
}

/** Return the name that a field of a Mod has in the object, or null: `SalesOrPurchaseMod` is `SalesOrPurchase`. */
function returnedName(name, tree) {
  const base = name.replace(/Mod$/, "");
  return [name, `${base}Ret`, base].find((one) => one in tree) ?? null;
}

// Changes

/** Return the type of the record of each object that a subscription can name. */
export function changesFile(found) {
  const all = Object.values(found).filter(
    ({ name, modified, returns }) => modified.length > 0 && returns.length === 1 && returns[0] === `${name}Ret`,
  );
  return [
    'import type * as r from "./responses.cjs";',
    "/** The objects that a subscription can name, and the type of the records of each. */",
    "export interface RecordsByObject {",
    ...all.map(({ name }) => `  ${name}: r.${name}Ret;`).sort(),
    "}",
  ];
}

// Types

/** Return the declarations of all resources, for a client and for a batch. */
export function typesFile(found) {
  const all = Object.entries(found);
  const inBatch = all.filter(([, { methods }]) => ["create", "delete", "void"].some((one) => methods.includes(one)));
  return [
    "// The types of the resources: which methods each has, and their arguments and results.",
    'import type { CustomFields, GetWhole, FindWhole, ListWhole } from "../methods.cjs";',
    'import type { Create, Delete, Ensure, Find, Get, List, Moment, Update, Void } from "../methods.cjs";',
    'import type { CreateStep, DeleteStep, EnsureStep, VoidStep } from "../methods.cjs";',
    'import type * as q from "./requests.cjs";',
    'import type * as r from "./responses.cjs";',
    ...all.flatMap(([, one]) => [...argumentsOf(one), ...methodsOf(one), ...stepsOf(one)]),
    "/** The resources of a client. */",
    "export interface Resources {",
    ...all.map(([attribute, { name }]) => `  readonly ${attribute}: ${plural(name)};`),
    "}",
    "/** The resources of a batch. */",
    "export interface ResourcesInBatch {",
    ...inBatch.map(([attribute, { name }]) => `  readonly ${attribute}: ${plural(name)}InBatch;`),
    "}",
  ];
}

function argumentsOf(resource) {
  const { name, methods, returns, modified, customFields } = resource;
  const lines = [];
  if (customFields && returns.join() === `${name}Ret`) {
    lines.push(`/** ${name}Ret, and its custom fields, if they were asked for or written. */`);
    lines.push(`export interface ${name}Read extends r.${name}Ret, CustomFields {}`);
  }
  if (methods.includes("create") && fieldsOf(resource) === `${name}Fields`) lines.push(...additionOf(resource));
  if (methods.includes("update")) lines.push(...changesOf(resource));
  lines.push(`/** The filters of ${name}Query. */`, `export interface ${name}Filters extends q.${name}QueryRq {`);
  if (modified.length > 0) {
    lines.push(`  /** The same as ${modified.join("/")}. */`, "  modifiedSince?: Moment;");
  }
  return [...lines, "}"];
}

/** Return the declaration of the fields of `create` and `ensure`. */
function additionOf({ name, addedLine, customFields }) {
  const about = "Custom fields by their names, as QuickBooks defines them. At most 255 characters each.";
  return [
    `/** The fields of ${name}Add. */`,
    `export interface ${name}Fields extends q.${name}Add {`,
    ...(addedLine ? [`  /** The same as ${addedLine}. */`, `  lines?: readonly q.${addedLine}[];`] : []),
    ...(customFields ? [`  /** ${about} */`, "  customFields?: Readonly<Record<string, string>>;"] : []),
    "}",
  ];
}

/** Return the declaration of the changes of `update`. */
function changesOf({ name, changedLines, customFields }) {
  const [line, key] = [`${name}LineMod`, `"ListID" | "TxnID" | "EditSequence"`];
  const about = "Custom fields by their names, as QuickBooks defines them. null clears one.";
  return [
    `/** The fields of ${name}Mod that change. */`,
    `export interface ${name}Changes extends Omit<q.${name}Mod, ${key}> {`,
    ...(changedLines.includes(line) ? [`  /** The same as ${line}. */`, `  lines?: readonly q.${line}[];`] : []),
    ...(changedLines.length > 0
      ? ["  /** The TxnLineIDs of the lines to remove. */", "  removeLines?: readonly string[];"]
      : []),
    ...(customFields ? [`  /** ${about} */`, "  customFields?: Readonly<Record<string, string | null>>;"] : []),
    "}",
  ];
}

/** Return the type of an object as it is read. */
const readOf = ({ returns, customFields }) =>
  returns.map((one) => (customFields ? one.replace(/Ret$/, "Read") : `r.${one}`)).join(" | ");

/** Return the type of a resource of a client. */
function methodsOf(resource) {
  const { name, methods, key, customFields } = resource;
  const [returned, whole] = [readOf(resource), customFields ? "Whole" : ""];
  const changed = customFields ? `${name}Read` : `r.${name}Ret`;
  const types = {
    create: `Create<${fieldsOf(resource)}, ${changed}>`,
    ensure: `Ensure<${fieldsOf(resource)}, ${changed}>`,
    get: `Get${whole}<${returned}>`,
    find: `Find${whole}<${returned}>`,
    list: `List${whole}<${name}Filters, ${returned}>`,
    update: `Update<${name}Changes, ${changed}>`,
    delete: `Delete<r.${deletion(key)}DelRs>`,
    void: "Void<r.TxnVoidRs>",
  };
  const bases = methods.map((method) => types[method]).join(", ");
  return [`/** ${plural(name)} in the books. */`, `export interface ${plural(name)} extends ${bases} {}`];
}

/** Return the type of a resource of a batch. */
function stepsOf(resource) {
  const { name, methods, key } = resource;
  const types = {
    create: `CreateStep<${fieldsOf(resource)}, r.${name}AddRs>`,
    ensure: `EnsureStep<${fieldsOf(resource)}, r.${name}AddRs>`,
    delete: `DeleteStep<r.${deletion(key)}DelRs>`,
    void: "VoidStep<r.TxnVoidRs>",
  };
  const bases = methods.filter((method) => method in types).map((method) => types[method]);
  if (bases.length === 0) return [];
  return [
    `/** ${plural(name)} in a batch. */`,
    `export interface ${plural(name)}InBatch extends ${bases.join(", ")} {}`,
  ];
}

const fieldsOf = ({ name, addedLine, customFields }) => (addedLine || customFields ? `${name}Fields` : `q.${name}Add`);
const deletion = (key) => (key === "ListID" ? "List" : "Txn");
