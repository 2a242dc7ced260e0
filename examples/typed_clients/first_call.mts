// Write a customer and read all customers, page by page, with the TypeScript client.
//
//   npm install ./clients/typescript
//   npm install --ignore-scripts --save-exact typescript@5.9.3
//   npx --no tsc -- --strict --module nodenext --target es2022 first_call.mts && node first_call.mjs
import { Client, QuickBooksError } from "qbxml-queue";

declare const process: { env: Record<string, string | undefined>; exit(status: number): never };

for (const name of ["BASE_URL", "API_KEY", "CONNECTION_ID"]) {
  if (!process.env[name]) {
    console.error(`${name} is not set. In the folder of the project, run: set -a; . .local/env; set +a`);
    process.exit(1);
  }
}
const books = Client.fromEnvironment();
try {
  const { CustomerRet: added } = await books.execute({ CustomerAddRq: { CustomerAdd: { Name: "Blue Note Records" } } });
  console.log(`${added.FullName} since ${added.TimeCreated.slice(0, 4)}, balance ${added.Balance}`);
} catch (error) {
  if (!(error instanceof QuickBooksError)) throw error;
  console.log(`${error.statusCode} ${error.reason}`); // on the second run, the name is in use
}

let count = 0;
for await (const page of books.iterate({ CustomerQueryRq: { ActiveStatus: "All" } }, { pageSize: 50 })) {
  count += page.CustomerRet.length;
}
console.log(`${count} customers`);
