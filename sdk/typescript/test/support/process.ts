import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** Program is a process of a test that says where it listens. */
export interface Program {
  url: string;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** environment is what a process sees: nothing of ours but what the system needs. */
function environment(env: Record<string, string>): Record<string, string> {
  const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
  return { PATH, HOME, TMPDIR, ...env };
}

/** listen starts a program and waits for its line `listening on http://…`. */
export async function listen(command: string, args: string[], env: Record<string, string>): Promise<Program> {
  const child = spawn(command, args, { env: environment(env) });
  let text = "";
  const ended = once(child, "exit");
  const url = await new Promise<string>((found, failed) => {
    const take = (chunk: Buffer) => {
      text += chunk;
      const match = /^listening on (http:\/\/\S+)\n/m.exec(text);
      if (match) found(match[1] as string);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("error", failed);
    child.once("exit", () => failed(new Error(`${command} ended at its start:\n${text}`)));
  });
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    await ended;
  };
  return { url, output: () => text, stop };
}

/** runToEnd is what a program prints until it ends by itself. */
export async function runToEnd(command: string, args: string[], env: Record<string, string>): Promise<{ status: number; text: string }> {
  const child = spawn(command, args, { env: environment(env) });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  child.stderr.on("data", (chunk) => (text += chunk));
  onTestFinished(() => void child.kill("SIGKILL"));
  const [status] = await once(child, "exit");
  return { status, text };
}
