// Asks one question and prints its id: agentic-orchestrator answers and lists questions from the command line, but asks none.
// Usage: node ask.mjs PROJECT FEATURE

import { Tools } from "./tools.mjs";

const [project, feature] = process.argv.slice(2);
console.log(await (await Tools.open(project)).ask(feature));
