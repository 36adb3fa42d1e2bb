// The README's programs are right: each compiles against the built package, runs
// against the service, and prints what its comments `// -> …` say.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runToEnd } from "./support/process.js";
import { registerShop, type Service, shopSecret, startService } from "./support/service.js";
import { startShop } from "./support/shop.js";

const home = resolve(import.meta.dirname, "..");
const folder = join(home, ".readme"); // inside the package, so that it finds itself by name
const blocks = [...readFileSync(join(home, "README.md"), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block]) => block as string);
const files = blocks.map((_, i) => join(folder, `block-${i + 1}.ts`));
let service: Service;

beforeAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  blocks.forEach((block, i) => writeFileSync(files[i] as string, block));
  const shop = await startShop();
  service = await startService(shop.url);
  await registerShop(service, shop.url);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the programs compile", () => {
  const { config } = ts.readConfigFile(join(home, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, home);
  const program = ts.createProgram(files, { ...options, noEmit: false });
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  expect(problems.map((problem) => `${problem.file?.fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, "\n")}`)).toEqual([]);
  expect(files.length).toBeGreaterThan(5);
});

test.each(blocks.map((block, i) => [i + 1, block] as const))("program %i prints what it says", async (n, block) => {
  const { status, text } = await runToEnd(process.execPath, [join(folder, `block-${n}.js`)], {
    COUNTERSIGN_URL: service.url,
    COUNTERSIGN_TOKEN: service.operatorToken,
    SHOP_SECRET: shopSecret,
  });
  const said = [...block.matchAll(/\/\/ -> (.*)$/gm)].map(([, line]) => line);
  expect({ status, text: text.trim() }).toEqual({ status: 0, text: said.join("\n") });
});
