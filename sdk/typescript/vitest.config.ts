import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

// How long something takes that hangs. No test depends on how quick the machine is.
const hangs = 300_000;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // What isn't installed with this package is, and is played, by `make frameworks`.
    exclude: [...(existsSync("node_modules/@mastra/core") ? [] : ["test/frameworks/mastra*.test.ts"]), ...(process.env.COUNTERSIGN_FIRST_CALLS ? [] : ["test/frameworks/*.mcp.test.ts"])],
    globalSetup: ["test/support/binary.ts"],
    testTimeout: hangs,
    hookTimeout: hangs,
    maxWorkers: 2,
    expect: { poll: { timeout: hangs } },
  },
});
