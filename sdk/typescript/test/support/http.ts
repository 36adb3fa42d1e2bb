import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./end.js";

/** serve listens on loopback until the file's tests are over, and gives its origin. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
