// The SDK covers the API as the binary describes it, word for word.
import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
// @ts-expect-error a script without types
import { typesOf } from "../scripts/types.mjs";
import { errorCodes, type Run, type Simulation } from "../src/index.js";
import { type Service, startService } from "./support/service.js";

let service: Service;
let document: Record<string, unknown>;

beforeAll(async () => {
  service = await startService("http://127.0.0.1:9");
  document = await service.admin.openapi();
});

test("the generated types are those of the binary's document", async () => {
  const committed = await readFile(new URL("../src/openapi.ts", import.meta.url), "utf8");
  expect(committed === (await typesOf(document)), "src/openapi.ts is stale: npm run generate -- <the binary's /openapi.json>").toBe(true);
});

/** methodOf is the rule of the names: one record, a list, a write; else the operation's own. */
function methodOf(operationId: string): string {
  const [, verb = "", noun = ""] = /^(get|list|put)([A-Z].*)$/.exec(operationId) ?? [];
  const name = noun.charAt(0).toLowerCase() + noun.slice(1);
  return { get: name, list: name, put: `save${noun}` }[verb] ?? operationId;
}

test("every operation has a method, and every method but three an operation", () => {
  const operations = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) => Object.values(path));
  const methods = [...Object.keys(service.admin), "runEvents", "events"].filter((name) => !["waitRun", "startHeartbeat", "tools"].includes(name));
  expect(methods.sort()).toEqual(operations.map(({ operationId }) => methodOf(operationId)).sort());
});

test("the error codes are those of the contract", async () => {
  expect((await service.admin.integrationContract()).errorCodes).toEqual(errorCodes);
});

test("lists that stay open take what a newer service adds", () => {
  const kind: NonNullable<Run["waitingFor"]>["kind"] = "a_newer_kind";
  const code: NonNullable<Run["steps"][number]["error"]>["code"] = "a_newer_code";
  const outcome: Simulation["outcome"] = "a_newer_outcome";
  expect([kind, code, outcome]).toHaveLength(3); // what counts is that they compile
});
