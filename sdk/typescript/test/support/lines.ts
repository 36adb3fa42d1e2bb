import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { atEnd } from "./end.js";

/** lines is an address of its own for a server that comes and goes: what is sent there while it is away is cut off. */
export async function lines(): Promise<{ origin: string; to(origin: string | undefined): void }> {
  let port: number | undefined;
  const open = new Set<Socket>();
  const server = createServer((from) => {
    if (port === undefined) return void from.destroy();
    const to = connect(port, "127.0.0.1");
    for (const [one, other] of [[from, to], [to, from]] as const) {
      open.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  atEnd(() => {
    server.close();
    cut();
  });
  const to = (origin: string | undefined) => {
    port = origin === undefined ? undefined : Number(new URL(origin).port);
    cut();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, to };
}
