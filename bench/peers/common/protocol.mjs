// How a peer talks with the benchmark, for the peers on Node. `bench/peers/README.md` describes the lines.
//
// A peer has `name`, `version`, `durable` and `setting`, and `cycles(clients, cycles)`, which replies with the line of a run;
// `measure` makes it from one cycle. `close()` ends whatever the peer has started.

import { createInterface } from "node:readline";

export const PROMPT =
  "The service needs a place for its sessions, and both candidates are there already. Which of the two shall it " +
  "use, given that sessions must survive a restart and that no tenant may ever read another's?";
export const OPTIONS = ["Postgres", "SQLite"];
export const ANSWER = "Postgres";

// A run that takes longer has come to a stop.
const PATIENCE = 180_000;

export const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

/** Runs cycles of the peer that `start` makes until the input ends. */
export async function drive(start) {
  let peer;
  const end = async (status) => {
    // Nothing is said or done after this, and a second signal changes nothing.
    end.begun ??= (async () => {
      await peer?.close();
      process.exit(status);
    })();
    return end.begun;
  };
  const fail = (error) => {
    if (!end.begun) say({ error: String(error?.cause ?? error).replaceAll("\n", " ") });
    return end(1);
  };
  process.on("SIGTERM", () => end(0));
  process.on("uncaughtException", fail);
  process.stdout.on("error", () => end(0));
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && end(0), 1000).unref();
  try {
    peer = await start();
    const { cycles: _, close: __, ...facts } = peer;
    say({ ready: true, ...facts });
    for await (const line of createInterface({ input: process.stdin })) {
      const { clients, cycles } = JSON.parse(line);
      say(await within(peer.cycles(clients, cycles)));
    }
    await end(0);
  } catch (error) {
    await fail(error);
  }
}

/** So many cycles, which the clients share. `cycle` does one and returns a key, `found` counts the keys whose answer is kept. */
export async function measure(clients, cycles, cycle, found) {
  const latencies = [];
  const keys = [];
  let left = cycles;
  const work = async (client) => {
    while (left-- > 0) {
      const start = performance.now();
      keys.push(await cycle(client));
      latencies.push(Math.round((performance.now() - start) * 1000));
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  const seconds = (performance.now() - start) / 1000;
  return { cycles: keys.length, seconds, latencies_us: latencies, found: await found(keys) };
}

async function within(run) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error("the run has come to a stop")), PATIENCE);
  });
  return Promise.race([run, late]).finally(() => clearTimeout(timer));
}
