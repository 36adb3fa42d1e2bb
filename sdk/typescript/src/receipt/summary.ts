/** summary is the first line of a verdict on a receipt that holds. Who reads no further must know what is not in it. */
export function summary(v: { cosigned?: { epoch: number }; masked: boolean; redacted: boolean; planHidden: boolean; hidden: number; unlogged: number; unshown: number; leftOut: number }): string {
  const count = (n: number, one: string, many: string) => (n === 0 ? [] : [`${n} ${n === 1 ? one : many}`]);
  const parts = [
    ...(v.redacted ? ["what it held"] : v.masked ? ["sensitive values"] : []),
    ...(v.masked && v.planHidden ? ["the plan's digest"] : []),
    ...count(v.hidden, "request", "requests"),
    ...count(v.unlogged, "decision's audit record", "decisions' audit records"),
    ...count(v.unshown, "answer's signature", "answers' signatures"),
    ...count(v.leftOut, "audit record in all", "audit records in all"),
  ];
  const epoch = v.cosigned === undefined ? "" : v.cosigned.epoch === 0 ? "of the first epoch of its log: " : `of epoch ${v.cosigned.epoch} of its log: `;
  if (parts.length === 0) return `${epoch}valid`;
  const by = v.redacted ? "the run was redacted, which " : v.masked ? "masking " : "";
  return `${epoch}valid for what it shows; ${by}left out: ${parts.join(", ")}`;
}
