// What a reconciliation names as differing from what was sent.
import { capability } from "./capability.js";
import type { Json } from "./canonical.js";
import { at, type Claims, has, list } from "./claims.js";
import { need } from "./failure.js";
import { equal, textOf as of } from "./value.js";

/** Compares it with the inputs. What was found stands nowhere else. */
export function asDiffering(c: Claims, s: Json): void {
  if (at(c.statement, "masked") === true) return;
  const selected = `${of(capability(c, s), "outputField")}.`;
  for (const one of list(at(at(s, "reconciliation"), "differs"))) {
    const field = of(one, "field");
    const sent = (name: string) => has(at(s, "input"), name) && equal(at(one, "sent"), at(at(s, "input"), name));
    const differs = (sent(field) || (field.startsWith(selected) && sent(field.slice(selected.length)))) && !equal(at(one, "found"), at(one, "sent"));
    need(differs, "run", `step ${of(s, "id")} names ${field} as differing from what was sent, which it does not`);
  }
}

/** How the record of a reconciliation names what differs. */
export function differsWords(reconciliation: Json | undefined): string {
  const fields = list(at(reconciliation, "differs")).map((one) => of(one, "field"));
  return fields.length === 0 ? "" : ` (differs from what was sent: ${fields.join(", ")})`;
}
