/**
 * sleep ends after ms, or throws the signal's reason as soon as it is aborted. With
 * "unref" it doesn't keep a process alive that has nothing else to do.
 */
export function sleep(ms: number, signal?: AbortSignal, unref?: "unref"): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (unref) timer.unref();
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Deadline aborts its signal when the time is over, or when the caller's signal is
 * aborted. `extend` starts the time anew; `end` lets go of both.
 */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #passed = false;

  constructor(ms: number, caller?: AbortSignal) {
    this.#caller = caller;
    caller?.addEventListener("abort", this.#abort, { once: true });
    if (caller?.aborted) this.#abort();
    this.extend(ms);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether it was the time that ended it, not the caller. */
  get passed(): boolean {
    return this.#passed;
  }

  extend(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#passed = true;
      this.#controller.abort();
    }, ms);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = (): void => this.#controller.abort(this.#caller?.reason);
}
