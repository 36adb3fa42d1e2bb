// The real service on a store of its own, with the example shop registered.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { Countersign, type ModelWrite, type CountersignOptions as Options, type ProjectWrite } from "../../src/index.js";
import { repository } from "./binary.js";
import { atEnd } from "./end.js";
import { listen, type Program } from "./process.js";

export const bootstrap = "bootstrap-token-of-the-typescript-tests";
export const shopSecret = "secret-of-the-typescript-tests";
export const projectId = "default-shop";

export interface Service {
  url: string;
  admin: Countersign;
  operator: Countersign;
  approver: Countersign;
  operatorToken: string;
  process: Program;
  /** A client with options of its own. */
  client(options?: Partial<Options>): Countersign;
}

/** example is a document of docs/example. */
export function example<T>(name: string): T {
  return JSON.parse(readFileSync(join(repository, "docs/example", name), "utf8"));
}

/** serveStore starts the service on what is in this folder, for projects at `shop`. */
export function serveStore(folder: string, shop: string, settings: Record<string, string> = {}): Promise<Program> {
  return listen(inject("binary"), ["serve"], {
    SVC_PLATFORM_LISTEN: "127.0.0.1:0",
    SVC_PLATFORM_STORE: join(folder, "store"),
    SVC_PLATFORM_BOOTSTRAP_TOKEN: bootstrap,
    SVC_PLATFORM_CONNECTION_ORIGINS: shop,
    SVC_PLATFORM_SIGNING_ENV_ALLOWLIST: "SHOP_SECRET",
    SHOP_SECRET: shopSecret,
    ...settings,
  });
}

/** startService starts the service for projects at `shop`, and stops it after the file's tests. */
export async function startService(shop: string): Promise<Service> {
  const store = mkdtempSync(join(tmpdir(), "countersign-store-"));
  const program = await serveStore(store, shop);
  atEnd(async () => {
    await program.stop();
    rmSync(store, { recursive: true });
  });
  const client = (options: Partial<Options> = {}) => new Countersign({ baseUrl: program.url, token: bootstrap, ...options });
  const admin = client();
  const token = async (role: "OPERATOR" | "APPROVER") => (await admin.createToken({ name: role, roles: [role] })).token;
  const operatorToken = await token("OPERATOR");
  return { url: program.url, admin, operator: client({ token: operatorToken }), approver: client({ token: await token("APPROVER") }), operatorToken, process: program, client };
}

/** registerShop brings the project to where LIVE runs may use it, and stores the model. */
export async function registerShop({ admin, operator }: Service, shop: string): Promise<void> {
  const project = await admin.saveProject(projectId, { ...example<ProjectWrite>("project.json"), baseUrl: shop });
  await admin.checkProjectHealth(projectId);
  await admin.enableProject(projectId, { expectedRevision: project.revision });
  await operator.saveModel("refund-agent", example<ModelWrite>("model.json"));
}
