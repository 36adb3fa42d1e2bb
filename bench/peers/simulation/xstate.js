// Goes along the way that bench/simulation.go describes with XState's pure
// transition function, which is faster than an actor, and prints how many
// nanoseconds a transition takes, as JSON. The argument is the time in ms.
import { assign, initialTransition, setup, transition } from "xstate";

const last = 19;

const skips = ({ context }) => context.amount > 1000 && context.color === "green";
const goesOn = (from) => ({ context }) => context.amount <= 1000 && context.step === from;

const states = { [`s${last}`]: { type: "final" } };
for (let i = 0; i < last; i++) {
  states[`s${i}`] = {
    on: {
      NEXT: [
        { guard: skips, target: `s${last}` },
        { guard: goesOn(i), target: `s${i + 1}`, actions: assign({ step: i + 1 }) },
      ],
    },
  };
}
const machine = setup({}).createMachine({ initial: "s0", context: { amount: 120.5, color: "red", step: 0 }, states });
const next = { type: "NEXT" };

function walk() {
  let [snapshot] = initialTransition(machine);
  for (let i = 0; i < last; i++) {
    [snapshot] = transition(machine, snapshot, next);
  }
  if (snapshot.status !== "done" || snapshot.value !== `s${last}`) {
    throw new Error(`it ended in state ${JSON.stringify(snapshot.value)}`);
  }
}

function measure(ms) {
  let n = 0;
  const begin = process.hrtime.bigint();
  const end = begin + BigInt(ms) * 1_000_000n;
  let now = begin;
  for (; n === 0 || now < end; n++) {
    walk();
    now = process.hrtime.bigint();
  }
  return Number(now - begin) / (n * last);
}

const ms = Number(process.argv[2] ?? 1000);
measure(ms / 4); // what is compiled while it runs is compiled now
console.log(JSON.stringify({ XState: measure(ms) }));
