// What the manual's page of frameworks shows compiles against the built package, and against
// the frameworks that are here; those that aren't are taken as they come.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";

const home = resolve(import.meta.dirname, "..");
const folder = join(home, ".frameworkspage"); // inside the package, so that it finds itself by name
const page = readFileSync(join(home, "..", "..", "docs", "how-to", "agents-in-a-framework.md"), "utf8");
const blocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string);
const around = `
declare const cs: import("@countersign/sdk").Countersign;
declare const agentId: string, instructions: string, prompt: string, thread: string, model: any, value: unknown;
export { agentId, cs, instructions, model, prompt, thread, value };
`;
const absent = 'declare module "langchain";\ndeclare module "@mastra/core/agent";\n';

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, "absent.d.ts"), absent);
  blocks.forEach((block, i) => writeFileSync(join(folder, `block-${i + 1}.ts`), block + around));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("what the page of frameworks shows compiles", () => {
  const { config } = ts.readConfigFile(join(home, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, home);
  const files = ["absent.d.ts", ...blocks.map((_, i) => `block-${i + 1}.ts`)].map((name) => join(folder, name));
  const program = ts.createProgram(files, { ...options, noUnusedLocals: false });
  const problems = ts.getPreEmitDiagnostics(program);
  expect(problems.map((problem) => `${problem.file?.fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`)).toEqual([]);
});

test("the page shows each adapter of the package", () => {
  const { exports } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  for (const name of Object.keys(exports).filter((name) => exports[name].default.includes("/adapters/"))) {
    expect(blocks.join()).toContain(`from "@countersign/sdk${name.slice(1)}"`);
  }
});
