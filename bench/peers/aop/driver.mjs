// agentic-orchestrator: `question_create` and `question_answer`, kept in JSON files that are synced.
// Usage: node driver.mjs processes|contend|commands DIR
//
//   processes  each client is a process that stays, on an item of its own
//   contend    each client is a process that stays, all on one item
//   commands   each client starts a process for every question and for every answer

import { execFile, execFileSync, fork } from "node:child_process";
import { appendFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ANSWER, drive, measure } from "../common/protocol.mjs";

const [mode, project] = process.argv.slice(2);
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const require = createRequire(import.meta.url);
const { version } = require("agentic-orchestrator/package.json");
const AOP = require.resolve("agentic-orchestrator/dist/apps/control-plane/cli/aop.js");

// All as by default but for the limit: that is one open question on an item, and a refusal of the second.
const POLICY = `execution:
  human_input:
    enabled: true
    timeout_ms: 900000
    on_timeout: block_feature
    max_open_questions_per_feature: 1000
    context_answer_history_limit: 3
`;

const run = promisify(execFile);
const workers = [];
let features = 0;

/** What one worker does, one task after the other. It writes a line about every call to its standard error. */
class Worker {
  static async start() {
    const child = fork(beside("worker.mjs"), [project], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const worker = new Worker(child);
    await worker.reply();
    return worker;
  }

  constructor(child) {
    this.child = child;
  }

  async do(task, ...args) {
    const reply = this.reply();
    this.child.send({ task, args });
    return reply;
  }

  reply() {
    return new Promise((done, fail) => {
      const ended = (status) => fail(new Error(`a worker ended with ${status}`));
      this.child.once("exit", ended);
      this.child.once("message", ({ result, error }) => {
        this.child.off("exit", ended);
        if (error) fail(new Error(error));
        else done(result);
      });
    });
  }
}

/** New items, so that what came before is not in their files. */
async function items(count) {
  const made = Array.from({ length: count }, () => `item_${++features}`);
  for (const item of made) await workers[0].do("init", item);
  return made;
}

/** The clients as processes that stay, on the items in turn. */
async function staying(clients, cycles, on) {
  while (workers.length < clients) workers.push(await Worker.start());
  const made = await items(on);
  const share = (client) => Math.floor(cycles / clients) + (client < cycles % clients ? 1 : 0);
  const start = performance.now();
  const done = await Promise.all(
    workers.slice(0, clients).map((worker, client) => worker.do("pairs", made[client % on], share(client))),
  );
  const seconds = (performance.now() - start) / 1000;
  const questions = done.flatMap((it) => it.questions);
  const found = await foundIn(made, questions);
  return {
    cycles: questions.length,
    seconds,
    latencies_us: done.flatMap((it) => it.latencies),
    found,
    lost: questions.length - found,
    timed_out: done.reduce((sum, it) => sum + it.timed_out, 0),
  };
}

/** Each question and each answer as a process, the clients each on an item of their own. */
async function commands(clients, cycles) {
  const made = await items(clients);
  const cycle = async (client) => {
    const asked = await run(process.execPath, [beside("ask.mjs"), project, made[client]]);
    const question = asked.stdout.trim();
    const answer = ["--feature-id", made[client], "--question-id", question, "--answer", ANSWER];
    await run(process.execPath, [AOP, "answer", ...answer], { cwd: project });
    return question;
  };
  return measure(clients, cycles, cycle, (questions) => foundIn(made, questions));
}

async function foundIn(made, questions) {
  const answered = new Set();
  for (const item of made) for (const id of await workers[0].do("answered", item)) answered.add(id);
  return questions.filter((id) => answered.has(id)).length;
}

const MODES = {
  processes: ["each client a process on an item of its own", (clients, cycles) => staying(clients, cycles, clients)],
  contend: ["each client a process, all on one item", (clients, cycles) => staying(clients, cycles, 1)],
  commands: ["a process for each question and one for each answer", commands],
};

/** An empty project, as `aop` sets one up. */
function makeProject() {
  const author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  const git = (...args) => execFileSync("git", ["-C", project, ...author, ...args]);
  git("init", "--quiet", "--initial-branch=main");
  git("commit", "--quiet", "--allow-empty", "--message=first");
  execFileSync(process.execPath, [AOP, "init", "--auto"], { cwd: project });
  appendFileSync(`${project}/config/agentic/orchestrator/policy.yaml`, POLICY);
}

await drive(async () => {
  const [what, cycles] = MODES[mode];
  makeProject();
  workers.push(await Worker.start());
  const [item] = await items(1);
  return {
    name: "agentic-orchestrator",
    version: `agentic-orchestrator ${version}, Node ${process.versions.node}`,
    durable: true,
    setting: `Its own tool client in the process, JSON files synced with every call, ${what}; it has no call that waits.`,
    cycles,
    commands: { questions: [process.execPath, AOP, "questions", "--feature-id", item] },
    close: () => workers.forEach((it) => it.child.kill()),
  };
});
