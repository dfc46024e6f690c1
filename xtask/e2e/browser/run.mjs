// Runs one case of the suite, on a project that was made for it.
// Usage: CHROMIUM=PATH node run.mjs CASE QUERENT FOLDER

import * as access from "./access.mjs";
import * as answering from "./answering.mjs";
import * as keyboard from "./keyboard.mjs";
import * as live from "./live.mjs";
import * as looks from "./looks.mjs";
import { Scene } from "./scene.mjs";

const LIMIT = 10 * 60_000;

const [name, binary, folder] = process.argv.slice(2);
const run = { ...access, ...answering, ...keyboard, ...live, ...looks }[name];
if (!run) throw new Error(`there is no case ${name}`);
setTimeout(() => { console.error(`the case takes more than ${LIMIT} ms`); process.exit(1); }, LIMIT).unref();

const scene = new Scene(binary, folder);
try {
  await run(scene);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
await scene.end().catch((error) => { console.error(error); process.exitCode = 1; });
