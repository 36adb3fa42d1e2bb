// The example runs as its comments say: the shop as a process, its agents as another.
import { join } from "node:path";
import { beforeAll, expect, inject, test } from "vitest";
import { repository } from "./support/binary.js";
import { atEnd } from "./support/end.js";
import { listen, type Program, runToEnd } from "./support/process.js";
import { registerShop, type Service, shopSecret, startService } from "./support/service.js";

const program = (name: string) => join(repository, "examples/typescript", name);
let shop: Program;
let service: Service;

beforeAll(async () => {
  shop = await listen(process.execPath, [program("shop.mjs"), "127.0.0.1:0"], { SHOP_SECRET: shopSecret });
  atEnd(() => shop.stop());
  service = await startService(shop.url);
  await registerShop(service, shop.url);
});

const agents = (...args: string[]) => runToEnd(process.execPath, [program("agents.mjs"), ...args], { COUNTERSIGN_URL: service.url, COUNTERSIGN_TOKEN: service.operatorToken });

test("agents are registered, admitted, and refund an order as a team, once", async () => {
  const first = await agents();
  const ids = /^to be admitted: (\S+) (\S+)$/m.exec(first.text)?.slice(1) ?? [];
  expect(ids).toHaveLength(2);
  for (const id of ids) await service.admin.admitAgent(id, { reason: "the shop answers for it" });

  expect((await agents("DRY_RUN", "A-48377")).text).toContain("COMPLETED read-order=SIMULATED refund=SIMULATED");
  expect((await agents("LIVE", "A-48377")).text).toContain("WAITING_APPROVAL read-order=COMPLETED refund=WAITING_APPROVAL");
  const { items } = await service.approver.approvals({ status: "PENDING" });
  expect(items).toHaveLength(1);
  await service.approver.decideApproval(items[0]?.id as string, { decision: "APPROVED", reason: "it came back" });

  const last = await agents("LIVE", "A-48377"); // finds the same run
  expect(last).toEqual({ status: 0, text: expect.stringContaining("COMPLETED read-order=COMPLETED refund=COMPLETED") });
  expect(shop.output().match(/paid back 64.5 EUR of A-48377/g)).toHaveLength(1);
  expect((await service.operator.agents()).items.map((agent) => agent.liveness)).toEqual(["BUSY", "BUSY"]);
});

test("the service's own check of receivers finds that the shop deduplicates", async () => {
  const sandbox = await listen(process.execPath, [program("shop.mjs"), "127.0.0.1:0"], { SHOP_SECRET: shopSecret });
  atEnd(() => sandbox.stop());
  const orders = [["A-48213", 249], ["A-48377", 64.5], ["A-48411", 12]]; // each is paid back only once
  const inputs = orders.flatMap(([orderId, amount]) => ["--input", JSON.stringify({ orderId, amount, currency: "EUR" })]);
  const project = join(repository, "docs/example/project.json");
  const args = ["check-receiver", sandbox.url, "--capability", "refunds.create", "--project", project, ...inputs, "--secret-env", "SHOP_SECRET"];
  const { status, text } = await runToEnd(inject("binary"), args, { SHOP_SECRET: shopSecret });
  expect(text).toContain("PROVEN to deduplicate");
  expect(text).not.toMatch(/BROKEN|NOT_TRIED/);
  expect(status).toBe(0);
});

test("the shop doesn't come up without a secret", async () => {
  expect(await runToEnd(process.execPath, [program("shop.mjs")], {})).toEqual({ status: 2, text: expect.stringContaining("SHOP_SECRET") });
});
