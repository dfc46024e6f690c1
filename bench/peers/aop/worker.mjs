// A client of agentic-orchestrator in a process of its own. It ends with the process that started it.
// Usage: node worker.mjs PROJECT, as a fork

import { Tools } from "./tools.mjs";

const tools = await Tools.open(process.argv[2]);
const tasks = { init: (feature) => tools.init(feature), pairs, answered: (feature) => tools.answered(feature) };

process.on("disconnect", () => process.exit());
process.on("message", async ({ task, args }) => {
  try {
    process.send({ result: await tasks[task](...args) });
  } catch (error) {
    process.send({ error: error.message });
  }
});
process.send({ result: "ready" });

/** So many questions with their answers. One whose lock could not be had in time is counted and left. */
async function pairs(feature, count) {
  tools.begin();
  const done = { latencies: [], questions: [], timed_out: 0 };
  for (let pair = 0; pair < count; pair++) {
    const start = performance.now();
    try {
      const question = await tools.ask(feature);
      await tools.answer(feature, question);
      done.questions.push(question);
      done.latencies.push(Math.round((performance.now() - start) * 1000));
    } catch (error) {
      if (error.code !== "lock_conflict" && !error.message.includes("lock_timeout")) throw error;
      done.timed_out++;
    }
  }
  return done;
}
