// A shop behind the receiver kit that keeps what it was asked.
import { json, MemoryStore, nodeHandler, type ReceivedCall } from "../../src/receiver/index.js";
import { serve } from "./http.js";
import { shopSecret } from "./service.js";

export interface Shop {
  url: string;
  calls: ReceivedCall[];
}

export async function startShop(): Promise<Shop> {
  const calls: ReceivedCall[] = [];
  const url = await serve(
    nodeHandler({ secrets: ["the-secret-before", shopSecret], store: new MemoryStore() }, (call) => {
      calls.push(call);
      return answer(call);
    }),
  );
  return { url, calls };
}

function answer({ method, target, body }: ReceivedCall) {
  if (target === "/health") return json(200, { status: "ok" });
  if (method === "GET" && target.startsWith("/orders/")) return json(200, { order: { status: "returned", total: 249 } });
  if (method === "POST" && target === "/refunds") return json(201, { id: "r-1", status: "succeeded", ...JSON.parse(Buffer.from(body).toString()) });
  return json(404, { error: "not_found" });
}
