// The verifier as browsers get it: the script that the console serves, without anything of Node's.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./binary.js";
import type { ReaderKeys, ReceiptVerdict } from "../../src/receipt/index.js";

export const script = readFileSync(join(repository, "internal/server/console/web/assets/receipt.js"), "utf8");

interface InBrowser {
  verify(file: Uint8Array, publicKey?: string, reader?: ReaderKeys & { witnesses?: readonly string[]; quorum?: number; epoch?: number }): Promise<ReceiptVerdict>;
  sha256(bytes: Uint8Array): string;
  Unsupported: new () => Error;
}

/** inBrowser runs the script where there is neither Buffer nor process nor require. */
export function inBrowser(crypto: unknown = globalThis.crypto): InBrowser {
  const globals = { crypto } as { crypto: unknown; countersignReceipt?: InBrowser };
  new Function("globalThis", "Buffer", "process", "require", script)(globals, undefined, undefined, undefined);
  return globals.countersignReceipt as InBrowser;
}
