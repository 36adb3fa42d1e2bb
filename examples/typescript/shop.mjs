// A project API for Countersign: orders that can be paid back, as docs/example/project.json
// registers them. Every call is verified, and every side effect happens once.
//
//   SHOP_SECRET=... node examples/typescript/shop.mjs 127.0.0.1:9090
import { createServer } from "node:http";
import { json, MemoryStore, nodeHandler } from "../../sdk/typescript/dist/receiver/index.js";

const orders = new Map([
  ["A-48213", { id: "A-48213", status: "returned", total: 249, currency: "EUR" }],
  ["A-48377", { id: "A-48377", status: "returned", total: 64.5, currency: "EUR" }],
  ["A-48411", { id: "A-48411", status: "returned", total: 12, currency: "EUR" }],
  ["A-48502", { id: "A-48502", status: "delivered", total: 18.9, currency: "EUR" }],
]);
const returns = new Map([["R-7", { id: "R-7", status: "open" }]]);
const refunds = new Map(); // by order
const notices = new Map(); // by order

const notFound = (what) => json(404, { error: "not_found", message: `there is no such ${what}` });
const conflict = (message) => json(409, { error: "conflict", message });

function readOrder({ orderId }) {
  const order = orders.get(orderId);
  return order ? json(200, { order }) : notFound("order");
}

function listRefunds(_, { query }) {
  const refund = refunds.get(query.get("orderId"));
  return json(200, { refunds: refund ? [refund] : [] });
}

// The answer is the final state, never "accepted": Countersign verifies what it says.
// A 4xx says that nothing happened, and frees the key.
function createRefund(_, { input }) {
  const order = orders.get(input.orderId);
  if (!order) return notFound("order");
  if (order.status !== "returned") return conflict(`order ${order.id} is ${order.status}, not returned`);
  if (refunds.has(order.id)) return conflict(`order ${order.id} is paid back already`);
  if (!(input.amount > 0 && input.amount <= order.total) || input.currency !== order.currency) {
    return json(422, { error: "invalid_amount", message: `at most ${order.total} ${order.currency}` });
  }
  const refund = { id: `refund-of-${order.id}`, status: "succeeded", orderId: order.id, amount: input.amount, currency: input.currency };
  refunds.set(order.id, refund);
  console.log(`paid back ${refund.amount} ${refund.currency} of ${order.id}`);
  return json(201, refund);
}

function readNotice({ orderId }) {
  return json(200, notices.get(orderId) ?? { orderId, status: "none" });
}

function putNotice({ orderId }, { input }) {
  if (!orders.has(orderId)) return notFound("order");
  notices.set(orderId, { orderId, status: "sent", ...input });
  return json(200, notices.get(orderId));
}

function readReturn({ resourceId }) {
  const found = returns.get(resourceId);
  return found ? json(200, found) : notFound("return");
}

function closeReturn({ resourceId }) {
  const found = returns.get(resourceId);
  if (!found) return notFound("return");
  found.status = "closed";
  return json(200, found);
}

const routes = [
  ["GET", /^\/health$/, () => json(200, { status: "ok" })],
  ["GET", /^\/orders\/(?<orderId>[^/]+)$/, readOrder],
  ["GET", /^\/refunds$/, listRefunds],
  ["POST", /^\/refunds$/, createRefund],
  ["GET", /^\/orders\/(?<orderId>[^/]+)\/notice$/, readNotice],
  ["PUT", /^\/orders\/(?<orderId>[^/]+)\/notice$/, putNotice],
  ["GET", /^\/returns\/(?<resourceId>[^/]+)$/, readReturn],
  ["POST", /^\/returns\/(?<resourceId>[^/]+)\/close$/, closeReturn],
];

/** answer finds what a verified call asks for. */
function answer(call) {
  const url = new URL(call.target, "http://shop");
  const input = parse(call.body);
  if (input === undefined) return json(400, { error: "invalid_json", message: "the body must be a JSON object" });
  for (const [method, path, handle] of routes) {
    const match = method === call.method && path.exec(url.pathname);
    if (match) return handle(match.groups ?? {}, { query: url.searchParams, input });
  }
  return notFound("operation");
}

function parse(body) {
  if (body.byteLength === 0) return {};
  try {
    const value = JSON.parse(Buffer.from(body).toString("utf8"));
    return value !== null && typeof value === "object" ? value : undefined;
  } catch {
    return undefined;
  }
}

const secret = process.env.SHOP_SECRET;
if (!secret) {
  console.error("SHOP_SECRET must hold the secret that Countersign signs with");
  process.exit(2);
}
const [, host, port] = /^(.*):(\d+)$/.exec(process.argv[2] ?? "127.0.0.1:9090") ?? [];
// While the secret is changed, give both. Orders that live in a database want a
// SqlTransactions store there, so that a refund and its answer are committed together.
const handler = nodeHandler({ secrets: [secret], store: new MemoryStore(), onError: console.error }, answer);
const server = createServer(handler).listen(Number(port), host, () => console.log(`listening on http://${host}:${server.address().port}`));
process.once("SIGTERM", () => server.close());
