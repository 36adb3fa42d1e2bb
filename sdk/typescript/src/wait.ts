import { isTemporary } from "./errors.js";
import { sleep } from "./time.js";
import type { ListedRun, Run } from "./types.js";

export interface WaitOptions {
  /**
   * "end" (default): COMPLETED, FAILED or CANCELLED. "standstill": also where the
   * run waits for a person, who approves or reconciles.
   */
  until?: "end" | "standstill";
  /** Ends the waiting, not the run: AbortSignal.timeout(60_000), say. */
  signal?: AbortSignal;
  /** Is told each state that is seen, none twice. */
  onChange?: (run: ListedRun | Run) => void;
}

/** Where waiting reads from; the client is one. */
interface Source {
  run(id: string, options: { signal?: AbortSignal | undefined }): Promise<Run>;
  runEvents(id: string, options: { signal?: AbortSignal | undefined; lastEventId?: string | undefined }): AsyncIterable<ListedRun>;
}

const firstPauseMs = 200;
const longestPauseMs = 5_000;

/** isSettled: a run that has ended, or that nothing moves but a person. */
export function isSettled(run: Pick<ListedRun, "status" | "waitingFor">, until: "end" | "standstill"): boolean {
  if (["COMPLETED", "FAILED", "CANCELLED"].includes(run.status)) return true;
  if (until === "end") return false;
  const kind = run.waitingFor && "kind" in run.waitingFor ? run.waitingFor.kind : undefined;
  if (kind === "stop") return true; // whatever its status
  return ["WAITING_APPROVAL", "RECOVERY_REQUIRED"].includes(run.status) && kind !== "slot"; // decided: it goes on by itself
}

/**
 * waitRun follows a run's events and reads it when they end. Where events don't
 * come through (a proxy that cuts them, a restart of the service) it asks for the
 * run instead, ever more slowly, and tries them again in between.
 */
export async function waitRun(source: Source, id: string, { until = "end", signal, onChange }: WaitOptions = {}): Promise<Run> {
  const seen = new Seen(until, onChange);
  for (;;) {
    await tolerate(() => seen.follow(source.runEvents(id, { signal, lastEventId: seen.lastEventId })));
    const run = await tolerate(() => source.run(id, { signal }));
    if (run && seen.settles(run)) return run;
    await sleep(seen.pause(), signal);
  }
}

/** tolerate gives nothing where waiting may help, and throws what stays. */
async function tolerate<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isTemporary(error)) return undefined;
    throw error;
  }
}

/** Seen is what is known of the run so far. */
class Seen {
  #revision = 0;
  #pauseMs = firstPauseMs;
  readonly #until: "end" | "standstill";
  readonly #onChange: WaitOptions["onChange"];

  constructor(until: "end" | "standstill", onChange: WaitOptions["onChange"]) {
    this.#until = until;
    this.#onChange = onChange;
  }

  /** An event's id is the run's revision. */
  get lastEventId(): string | undefined {
    return this.#revision > 0 ? String(this.#revision) : undefined;
  }

  async follow(events: AsyncIterable<ListedRun>): Promise<void> {
    for await (const run of events) if (this.settles(run)) return;
  }

  settles(run: ListedRun | Run): boolean {
    if (run.revision > this.#revision) {
      this.#revision = run.revision;
      this.#pauseMs = firstPauseMs;
      this.#onChange?.(run);
    }
    return isSettled(run, this.#until);
  }

  pause(): number {
    const pause = this.#pauseMs;
    this.#pauseMs = Math.min(2 * pause, longestPauseMs);
    return pause;
  }
}
