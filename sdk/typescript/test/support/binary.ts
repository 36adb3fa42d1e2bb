// Gives the tests the service's binary: COUNTERSIGN_BINARY, or one built here.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    binary: string;
  }
}

export const repository = resolve(import.meta.dirname, "../../../..");

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "countersign-ts-"));
  project.provide("binary", process.env.COUNTERSIGN_BINARY ?? build(join(folder, "countersign")));
  return () => rmSync(folder, { recursive: true });
}

function build(target: string): string {
  execFileSync("go", ["build", "-o", target, "./cmd/countersign"], { cwd: repository, stdio: "inherit" });
  return target;
}
