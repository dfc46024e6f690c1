// A project in the middle of its work: something on every page.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const person = ["--from", "engineer", "--to", "human", "--no-blocking"];

// Fills the project, and names its pages. What is read stands alone; nothing is like anything else.
export async function full(scene) {
  const { next: told } = await scene.receive();
  await scene.serve();
  const { querent } = bound(scene);
  await querent("ask", "--item", "42", ...person, "--topic", "Bank", "--question", "Which **bank** is it? See `bank.toml`.", "--context", "The ticket names two.", "--option", "a=Bank A", "--option", "b=Bank B", "--recommend", "b", "--allow-free-text", "--evidence", "codebase_search=nothing about banks", "--details", '{"ticket": 17}', "--expires-in", "2h", "--fallback", "a", "--because", "it was first");
  const link = new URL((await told).links.answer.b).pathname;
  await querent("ask", "--item", "42", ...person, "--topic", "Browsers", "--question", "Which ones?", "--option", "f=Firefox", "--option", "c=Chromium", "--expect", "multi_choice");
  await querent("ask", "--item", "42", ...person, "--topic", "Limit", "--question", "How many at once?", "--expect", "number");
  await querent("ask", "--item", "42", ...person, "--topic", "Logs", "--question", "Keep them?", "--expect", "boolean");
  await querent("answer", "CLR-42-004", "--answer", "true");
  await querent("assume", "--item", "42", "--agent", "engineer", "--decision", "Sessions live for a week", "--reasoning", "The code does so.", "--confidence", "medium", "--risk", "high");
  await circle(scene);
  return [
    ["inbox", "/"], ["question", "/q/CLR-42-001"], ["answered question", "/q/CLR-42-004"], ["board", "/board"], ["waits", "/waits"],
    ["assumptions", "/assumptions"], ["digest", "/digest"], ["events", "/log"], ["login", "/login"], ["answer link", link], ["no such page", "/nowhere"],
  ];
}

// The engineer waits for the architect, who waits for the product manager, who waits for the engineer.
export async function circle(scene) {
  const { querent } = bound(scene);
  const workflow = join(scene.folder, ".querent/workflows/feature.toml");
  const own = 'agent = "product-manager"';
  await writeFile(workflow, (await readFile(workflow, "utf8")).replace(own, `${own}\ncan_clarify = ["engineer"]`));
  for (const [item, stage] of [["51", "implement"], ["52", "architecture"], ["53", "requirements"]]) {
    await querent("item", "add", item, "--title", `Part ${item}`);
    if (stage !== "requirements") await querent("item", "move", item, "--to", stage);
  }
  for (const [item, from, to] of [["51", "engineer", "architect"], ["52", "architect", "product-manager"], ["53", "product-manager", "engineer"]]) {
    await querent("ask", "--item", item, "--from", from, "--to", to, "--topic", "The other part", "--question", `What does ${to} need of ${item}?`);
  }
}

const bound = (scene) => ({ querent: scene.querent.bind(scene) });
