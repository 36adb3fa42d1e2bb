import { createHash, createHmac } from "node:crypto";

/** Signs as the service does; written apart from what verifies. */
export interface Signing {
  method: string;
  target: string;
  body?: string | Uint8Array;
  key?: string;
  secret?: string;
  at?: number;
}

export const secret = "secret-of-these-tests";

export function signed({ method, target, body = "", key = "run-1.refund", secret: by = secret, at = Math.floor(Date.now() / 1000) }: Signing): Record<string, string> {
  const parts = [method, target, String(at), key, "run-1", "refund", createHash("sha256").update(body).digest("hex")];
  return {
    "Idempotency-Key": key,
    "X-Runtime-Run-Id": "run-1",
    "X-Runtime-Step-Id": "refund",
    "X-Runtime-Timestamp": String(at),
    "X-Runtime-Signature": `sha256=${createHmac("sha256", by).update(parts.join("\n")).digest("hex")}`,
  };
}

/** call sends a signed request. */
export async function call(origin: string, signing: Signing, headers: Record<string, string> = {}): Promise<{ status: number; headers: Headers; text: string; json: () => Record<string, unknown> }> {
  const init: RequestInit = { method: signing.method, headers: { ...signed(signing), ...headers } };
  if (signing.body !== undefined) init.body = signing.body;
  const response = await fetch(origin + signing.target, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}
