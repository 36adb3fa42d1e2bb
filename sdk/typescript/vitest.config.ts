import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

// How long something takes that hangs. No test depends on how quick the machine is.
const hangs = 300_000;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Mastra asks for a newer Node than this package does: `make frameworks` installs and plays it.
    exclude: existsSync("node_modules/@mastra/core") ? [] : ["test/frameworks/mastra*.test.ts"],
    globalSetup: ["test/support/binary.ts"],
    testTimeout: hangs,
    hookTimeout: hangs,
    maxWorkers: 2,
    expect: { poll: { timeout: hangs } },
  },
});
