// The evidence sheet: shows the path of the chosen record, and checks the receipt that is in the page, hop by
// hop, with this browser's WebCrypto. It asks nothing of the server.
(() => {
  "use strict";
  const at = (selector) => document.querySelector(selector);
  const each = (selector, f) => document.querySelectorAll(selector).forEach(f);
  const box = at("#receipt");
  const said = at("#said");
  const button = at("#check");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const wait = (ms) => new Promise((go) => setTimeout(go, still ? 0 : ms));

  const print = at("[data-print]");
  print.hidden = false;
  print.onclick = () => window.print();

  function choose(n) {
    each("[data-path]", (path) => { path.hidden = path.dataset.path !== String(n); });
    each(".rec", (rec) => rec.setAttribute("aria-pressed", String(rec.dataset.rec === String(n))));
  }
  each(".rec", (rec) => { rec.onclick = () => choose(rec.dataset.rec); });
  choose(0);

  const say = (text, state = "") => {
    said.textContent = text;
    said.className = `proof__s ${state}`;
  };
  if (!globalThis.crypto?.subtle || !globalThis.DecompressionStream || !globalThis.countersignReceipt) {
    say("This browser checks only over https, or on this machine. Use the command below.");
    return;
  }
  button.hidden = false;
  say("Nothing is checked until you press. It is computed in this browser.");

  const hex = (bytes) => Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
  const bytes = (text) => Uint8Array.from(text.match(/../g), (pair) => parseInt(pair, 16));
  const hash = (first, ...rest) => crypto.subtle.digest("SHA-256", Uint8Array.from([first, ...rest.flatMap((r) => Array.from(r))]));

  async function file() {
    const packed = Uint8Array.from(atob(box.dataset.file), (c) => c.charCodeAt(0));
    return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
  }

  class Refuted extends Error {
    constructor(lines, text) {
      super(text);
      this.lines = lines;
    }
  }

  /** climb follows the path of a record, RFC 9162 2.1.3.2, and marks each hop that it took. */
  async function climb(record, n, head) {
    choose(n);
    const path = at(`[data-path="${n}"]`);
    const mark = (what, i, state) => path.querySelector(`[data-${what}="${i}"]`)?.classList.add(state);
    const seq = Number(/^\{"seq":(\d+),/.exec(record.text)?.[1]);
    let [fn, sn, node] = [seq, head.size - 1, await hash(0, new TextEncoder().encode(record.text))];
    mark("nd", 0, "ok");
    for (const [i, sibling] of record.proof.entries()) {
      const left = fn % 2 === 1 || fn === sn;
      node = left ? await hash(1, bytes(sibling), new Uint8Array(node)) : await hash(1, new Uint8Array(node), bytes(sibling));
      if (left) while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
      [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
      mark("hop", i, "ok");
      mark("nd", i + 1, "ok");
      await wait(30);
    }
    if (hex(node) === head.root) return at(`.rec[data-rec="${n}"]`).classList.add("ok");
    mark("nd", record.proof.length, "bad");
    at(`.rec[data-rec="${n}"]`).classList.add("bad");
    const place = at(`.rec[data-rec="${n}"]`).closest(".stn").querySelector(".stn__n").textContent;
    throw new Refuted(["paths"], `The path of station ${place} does not end at the signed root.`);
  }

  // Which lines a part of the receipt that doesn't hold belongs to.
  const linesOf = { frame: ["file"], contents: ["file"], signature: ["file"], audit: ["head", "sense"], run: ["sense", "answer"], approvals: ["sense"], plan: ["sense"], requests: ["sense"], statement: ["sense"] };

  async function check() {
    const receipt = await file();
    const { audit } = JSON.parse(new TextDecoder().decode(receipt)).sections;
    const records = new Map(audit.records.map((r) => [/^\{"seq":(\d+),/.exec(r.text)?.[1], r]));
    for (const rec of document.querySelectorAll(".rec")) {
      const record = records.get(/#(\d+)/.exec(rec.textContent)[1]);
      if (!record) throw new Refuted(["paths"], `The receipt has no record ${rec.textContent.trim().split(" ")[0]}.`);
      await climb(record, rec.dataset.rec, audit.head);
    }
    at('[data-c="paths"]').classList.add("ok");
    const verdict = await countersignReceipt.verify(receipt, box.dataset.key);
    if (!verdict.ok) throw new Refuted(verdict.unknownFormat ? [] : (linesOf[verdict.section] ?? ["sense"]), `${verdict.section}: ${verdict.problem}`);
    for (const line of document.querySelectorAll("#checks li:not(.none):not(.ok)")) {
      if (line.dataset.c === "answer" && !(verdict.answers?.length > 0)) {
        line.classList.add("none");
        line.append(" isn’t shown to you, so it isn’t checked here");
        continue;
      }
      line.classList.add("ok");
      await wait(120);
    }
    return verdict;
  }

  button.onclick = async () => {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    button.textContent = "Checking…";
    say("");
    each("#checks li, .rec, .hop, .nd", (one) => one.classList.remove("ok", "bad"));
    try {
      const verdict = await check();
      const whole = verdict.summary.endsWith("valid");
      say(`${whole ? "All of it holds" : `It is ${verdict.summary}`}. Checked on this machine; nothing was asked of the server.`, "ok");
    } catch (error) {
      if (error instanceof countersignReceipt.Unsupported) say(`${error.message} Use the command below.`);
      else {
        for (const line of error.lines ?? []) at(`[data-c="${line}"]`)?.classList.add("bad");
        say(error.message, "bad");
      }
    }
    button.removeAttribute("aria-disabled");
    button.textContent = "Check again";
  };
})();
