import { defineConfig } from "vitest/config";

// How long something takes that hangs. No test depends on how quick the machine is.
const hangs = 300_000;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/binary.ts"],
    testTimeout: hangs,
    hookTimeout: hangs,
    maxWorkers: 2,
    expect: { poll: { timeout: hangs } },
  },
});
