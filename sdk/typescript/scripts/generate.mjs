// Writes the API's types anew from its OpenAPI document, given by file or URL:
//   npm run generate -- http://127.0.0.1:8080/v1/openapi.json
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { typesOf } from "./types.mjs";

const from = process.argv[2];
if (!from) {
  console.error("usage: npm run generate -- <file or URL of openapi.json>");
  process.exit(2);
}
const text = /^https?:/.test(from) ? await (await fetch(from)).text() : await readFile(from, "utf8");
const target = new URL("../src/openapi.ts", import.meta.url);
await writeFile(target, await typesOf(JSON.parse(text)));
console.log(`wrote ${fileURLToPath(target)}`);
