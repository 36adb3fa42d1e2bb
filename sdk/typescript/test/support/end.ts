import { afterAll } from "vitest";

const ends: (() => unknown)[] = [];

/** atEnd has something done once the file's tests are over, the latest first; from hooks and tests too. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

afterAll(async () => {
  for (const end of ends.reverse()) await end();
});
