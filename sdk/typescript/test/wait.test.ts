// waitRun by events, and where events don't come through.
import { createServer, request, type ServerResponse } from "node:http";
import { beforeAll, expect, test } from "vitest";
import { serve } from "./support/http.js";
import { projectId, registerShop, type Service, startService } from "./support/service.js";
import { startShop } from "./support/shop.js";

let service: Service;

beforeAll(async () => {
  const shop = await startShop();
  service = await startService(shop.url);
  await registerShop(service, shop.url);
});

/** waitingRun is a LIVE run that waits for an approval. */
async function waitingRun(): Promise<{ id: string; approve: () => Promise<unknown> }> {
  const { operator, approver } = service;
  const step = { id: "refund", name: "refund", projectId, capability: "refunds.create", input: { orderId: "A-1", amount: 1.5, currency: "EUR" } };
  const plan = await operator.createPlan({ name: "refund", modelId: "refund-agent", modelRevision: 1, mode: "LIVE", steps: [step] });
  const { id } = await operator.startRun({ planId: plan.id });
  const { approvalId = "" } = await operator.waitRun(id, { until: "standstill" });
  return { id, approve: () => approver.decideApproval(approvalId, { decision: "APPROVED", reason: "it is right" }) };
}

/** proxy passes everything on, but answers for the events what `events` makes of them. */
async function proxy(events: (res: ServerResponse, upstream: NodeJS.ReadableStream) => void): Promise<{ url: string; paths: string[]; lastIds: unknown[] }> {
  const paths: string[] = [];
  const lastIds: unknown[] = [];
  const url = await serve((req, res) => {
    paths.push(req.url as string);
    const streaming = req.url?.endsWith("/events");
    if (streaming) lastIds.push(req.headers["last-event-id"]);
    const up = request(service.url + req.url, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode as number, answer.headers);
      if (streaming) events(res, answer);
      else answer.pipe(res);
    });
    up.on("error", () => res.destroy());
    res.on("close", () => up.destroy());
    req.pipe(up);
  });
  return { url, paths, lastIds };
}

test("a run is followed by its events, with one read at its end", async () => {
  const { id, approve } = await waitingRun();
  const through = await proxy((res, upstream) => upstream.pipe(res));
  const seen: string[] = [];
  const done = service.client({ baseUrl: through.url, token: service.operatorToken }).waitRun(id, { onChange: (run) => { seen.push(run.status); if (seen.length === 1) void approve(); } });
  expect((await done).status).toBe("COMPLETED");
  expect(seen[0]).toBe("WAITING_APPROVAL");
  expect(seen.at(-1)).toBe("COMPLETED");
  expect(through.paths.filter((path) => path.endsWith(id))).toHaveLength(1);
});

test("events that are cut off are asked for again, from the last one on", async () => {
  const { id, approve } = await waitingRun();
  const cutting = await proxy((res, upstream) => upstream.once("data", (first) => res.write(first, () => res.destroy())));
  const done = service.client({ baseUrl: cutting.url, token: service.operatorToken }).waitRun(id);
  await expect.poll(() => cutting.lastIds.length).toBeGreaterThan(1);
  await approve();
  expect((await done).status).toBe("COMPLETED");
  const { revision } = await service.operator.run(id);
  expect(cutting.lastIds[0]).toBeUndefined();
  expect(Number(cutting.lastIds[1])).toBeGreaterThan(0);
  expect(Number(cutting.lastIds[1])).toBeLessThan(revision);
});

test("where no events come at all, the run itself is asked for", async () => {
  const { id, approve } = await waitingRun();
  const deaf = await proxy((res) => res.destroy());
  const done = service.client({ baseUrl: deaf.url, token: service.operatorToken }).waitRun(id);
  await expect.poll(() => deaf.paths.filter((path) => path.endsWith(id)).length).toBeGreaterThan(1);
  await approve();
  expect((await done).status).toBe("COMPLETED");
});

test("waiting ends with its signal, and the run goes on", async () => {
  const { id } = await waitingRun();
  await expect(service.operator.waitRun(id, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: "TimeoutError" });
  expect((await service.operator.run(id)).status).toBe("WAITING_APPROVAL");
});

test("a run that isn't there ends the waiting at once", async () => {
  await expect(service.operator.waitRun("run-none")).rejects.toMatchObject({ code: "not_found" });
});

test("a list is one page when awaited, and all of it when iterated", async () => {
  for (let i = 0; i < 5; i++) await waitingRun();
  const page = await service.operator.runs({ limit: 2 });
  expect(page.items).toHaveLength(2);
  const ids: string[] = [];
  for await (const run of service.operator.runs({ limit: 2 })) ids.push(run.id);
  expect(ids).toHaveLength(page.total);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the service may be away for a while", async () => {
  const { id, approve } = await waitingRun();
  const port = await freePort();
  const done = service.client({ baseUrl: `http://127.0.0.1:${port}`, token: service.operatorToken, retries: 0 }).waitRun(id);
  await approve();
  const back = createServer((req, res) => request(service.url + req.url, { headers: req.headers }, (answer) => { res.writeHead(answer.statusCode as number, answer.headers); answer.pipe(res); }).end());
  back.listen(port, "127.0.0.1");
  expect((await done).status).toBe("COMPLETED");
  back.closeAllConnections();
  back.close();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
