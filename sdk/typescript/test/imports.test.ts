import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";

const source = join(import.meta.dirname, "../src");

const imports = new Map(
  readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => {
      const text = readFileSync(join(source, file), "utf8");
      const found = [...text.matchAll(/from "(\.[^"]+)\.js"/g)].map((m) => normalize(join(dirname(file), `${m[1]}.ts`)));
      return [normalize(file), found] as const;
    }),
);

test("no file imports itself by way of others", () => {
  expect(imports.size).toBeGreaterThan(20);
  const done = new Set<string>();
  const follow = (file: string, path: string[]): void => {
    if (path.includes(file)) throw new Error([...path, file].join(" -> "));
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? []) follow(next, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) follow(file, []);
});
