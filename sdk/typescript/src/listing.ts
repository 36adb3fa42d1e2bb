/** A page of a list, as the service answers it. */
export interface Page<T> {
  items: T[];
  total: number;
  nextOffset: number | null;
}

interface Paging {
  limit?: number | undefined;
  offset?: number | undefined;
}

const largestPage = 200;

/**
 * Listing is a list that was not read yet: `await` reads the one page that was
 * asked for, `for await` every record from there on, page by page.
 *
 * Each page is a state of its own. Where the newest come first, one that is added
 * meanwhile pushes the others along: what a page repeats of the one before it is
 * yielded once.
 */
export class Listing<T, Q extends Paging = Paging> implements PromiseLike<Page<T>>, AsyncIterable<T> {
  readonly #fetch: (query: Q) => Promise<Page<T>>;
  readonly #query: Q;
  readonly #key: (item: T) => unknown;

  constructor(fetch: (query: Q) => Promise<Page<T>>, query: Q, key: (item: T) => unknown) {
    this.#fetch = fetch;
    this.#query = query;
    this.#key = key;
  }

  then<A = Page<T>, B = never>(ok?: ((page: Page<T>) => A | PromiseLike<A>) | null, bad?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<A | B> {
    return this.#fetch(this.#query).then(ok, bad);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let before = new Set<unknown>();
    for (let offset: number | null = this.#query.offset ?? 0; offset !== null; ) {
      const page: Page<T> = await this.#fetch({ ...this.#query, limit: this.#query.limit ?? largestPage, offset });
      yield* page.items.filter((item) => !before.has(this.#key(item)));
      before = new Set(page.items.map(this.#key));
      offset = page.nextOffset;
    }
  }
}
