// The handler of node:http and the middleware, over real sockets.
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { expressMiddleware, json, MemoryStore, nodeHandler, type ReceiverOptions, type VerifiedRequest } from "../../src/receiver/index.js";
import { serve } from "../support/http.js";
import { call, secret, signed } from "./sign.js";

type Route = (req: VerifiedRequest, res: ServerResponse) => void;

/** chain runs middleware and a route as Express does: a throw is a 500 of its error handler. */
function chain(options: ReceiverOptions, route: Route) {
  const middleware = expressMiddleware(options);
  return (req: IncomingMessage, res: ServerResponse) => {
    const fail = () => void res.writeHead(500, { "Content-Type": "text/plain" }).end("failed");
    middleware(req, res, (error) => {
      if (error) return fail();
      try {
        route(req, res);
      } catch {
        fail();
      }
    });
  };
}

/** refunds pays back and counts; `fail` throws before it answers. */
function shop() {
  const effects: unknown[] = [];
  const options = { secrets: [secret], store: new MemoryStore() };
  const act = (body: unknown) => {
    if ((body as { fail?: boolean })?.fail) throw new Error("half-way");
    if ((body as { amount?: number })?.amount === 0) return { status: 422, value: { error: "amount" } };
    return { status: 201, value: { n: effects.push(body) } };
  };
  const node = nodeHandler(options, ({ method, body }) => {
    if (method === "GET") return json(200, { reads: effects.push("read") });
    const { status, value } = act(JSON.parse(Buffer.from(body).toString()));
    return json(status, value);
  });
  const express = chain(options, (req, res) => {
    if (req.method === "GET") return void res.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ reads: effects.push("read") }));
    const { status, value } = act(req.body);
    res.statusCode = status;
    res.setHeader("Content-Type", "application/json");
    res.setHeader("X-Own", "kept");
    res.write("");
    res.end(JSON.stringify(value));
  });
  return { effects, node, express };
}

describe.each(["node", "express"] as const)("%s", (kind) => {
  const start = async () => {
    const { effects, [kind]: listener } = shop();
    return { effects, origin: await serve(listener) };
  };
  const refund = (body: string, key: string) => ({ method: "POST", target: "/refunds?note=a%20b", body, key });

  test("a signed call is answered, and its repeat gets the same", async () => {
    const { effects, origin } = await start();
    const first = await call(origin, refund('{"amount":1}', "k"));
    const again = await call(origin, refund('{"amount":1}', "k"));
    expect([first.status, first.json()]).toEqual([201, { n: 1 }]);
    expect([again.status, again.text, again.headers.get("content-type")]).toEqual([201, first.text, first.headers.get("content-type")]);
    expect([first.headers.get("idempotency-replayed"), again.headers.get("idempotency-replayed")]).toEqual([null, "true"]);
    expect(effects).toEqual([{ amount: 1 }]);
  });

  test("another body under the key is 409", async () => {
    const { effects, origin } = await start();
    await call(origin, refund('{"amount":1}', "k"));
    const other = await call(origin, refund('{"amount":2}', "k"));
    expect([other.status, other.json().error]).toEqual([409, "idempotency_conflict"]);
    expect(effects).toHaveLength(1);
  });

  test.each([
    ["signature", { secret: "another" }],
    ["timestamp", { at: 1_767_225_600 }],
  ])("what breaks the rule %s is 401, and reaches nobody", async (reason, wrong) => {
    const { effects, origin } = await start();
    const reply = await call(origin, { ...refund("{}", "k"), ...wrong });
    expect([reply.status, reply.json().error]).toEqual([401, reason]);
    expect(effects).toEqual([]);
  });

  test("a repeated runtime header is refused", async () => {
    const { origin } = await start();
    const headers = ["Host", "shop", ...Object.entries(signed({ method: "GET", target: "/" })).flat()];
    const status = await new Promise((answered) => {
      request(origin, { headers: [...headers, "idempotency-key", "run-1.refund"] }, (res) => answered(res.resume().statusCode)).end();
    });
    expect(status).toBe(401);
  });

  test("reads are verified and not remembered", async () => {
    const { origin } = await start();
    const read = { method: "GET", target: "/refunds", key: "k" };
    expect((await call(origin, read)).json()).toEqual({ reads: 1 });
    expect((await call(origin, read)).json()).toEqual({ reads: 2 });
    expect((await call(origin, { ...read, secret: "another" })).status).toBe(401);
  });

  test("a 4xx frees the key; a throw is 500 and leaves it in doubt", async () => {
    const { effects, origin } = await start();
    expect((await call(origin, refund('{"amount":0}', "k"))).status).toBe(422);
    expect((await call(origin, refund('{"amount":3}', "k"))).status).toBe(201);
    const thrown = await call(origin, refund('{"fail":true}', "f"));
    expect(thrown.status).toBe(500);
    expect(thrown.text).not.toContain("half-way");
    const again = await call(origin, refund('{"fail":true}', "f"));
    expect([again.status, again.json().error]).toEqual([409, "in_doubt"]);
    expect(effects).toHaveLength(1);
  });

  test("a body over 1 MiB is 413", async () => {
    const { origin } = await start();
    const body = "x".repeat((1 << 20) + 1);
    const status = await new Promise((answered, failed) => {
      const req = request(`${origin}/refunds`, { method: "POST", headers: signed({ method: "POST", target: "/refunds", body }) }, (res) => answered(res.resume().statusCode));
      req.on("error", failed);
      req.end(body);
    });
    expect(status).toBe(413);
  });
});

describe("the middleware's response", () => {
  test("keeps its own headers the first time; a repeat has what is remembered", async () => {
    const origin = await serve(shop().express);
    const refund = { method: "POST", target: "/refunds", body: "{}", key: "k" };
    expect((await call(origin, refund)).headers.get("x-own")).toBe("kept");
    expect((await call(origin, refund)).headers.get("x-own")).toBeNull();
  });

  test("may be written in pieces, in any form, with callbacks", async () => {
    const listener = chain({ secrets: [secret], store: new MemoryStore() }, (_, res) => {
      res.writeHead(201, "Made", { "content-type": "text/plain", "Content-Length": "999" });
      res.flushHeaders();
      res.write("größe", () => res.write(Buffer.from(" and "), () => res.end("b25l", "base64", () => {})));
    });
    const reply = await call(await serve(listener), { method: "POST", target: "/", body: "{}" });
    expect([reply.status, reply.text, reply.headers.get("content-type")]).toEqual([201, "größe and one", "text/plain"]);
  });

  test.each([200, 422, 503])("%i that is too large is a 500 without it", async (status) => {
    const listener = chain({ secrets: [secret], store: new MemoryStore() }, (_, res) => {
      res.statusCode = status;
      res.setHeader("X-Own", "kept");
      for (let i = 0; i < 20; i++) res.write("x".repeat(1 << 16));
      res.end();
    });
    const reply = await call(await serve(listener), { method: "POST", target: "/", body: "{}" });
    expect([reply.status, reply.json().error, reply.headers.get("x-own")]).toEqual([500, "not_remembered", null]);
  });

  test("can't be had behind a body parser", async () => {
    const errors: unknown[] = [];
    const middleware = expressMiddleware({ secrets: [secret], store: new MemoryStore() });
    const server = createServer(async (req, res) => {
      for await (const _ of req); // the parser
      middleware(req, res, (error) => { errors.push(error); res.end(); });
    });
    await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
    await call(`http://127.0.0.1:${(server.address() as { port: number }).port}`, { method: "POST", target: "/", body: "{}" });
    server.close();
    expect(errors).toMatchObject([{ message: expect.stringContaining("before body parsers") }]);
  });
});
