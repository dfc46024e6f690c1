// Answering: by key, by mouse, in every form; and never by accident.

import { writeFile } from "node:fs/promises";
import { card, hold, missing, same, see } from "./scene.mjs";

const TOKENS = ["--option", "jwt=JSON Web Token", "--option", "cookie=Session cookie"];

// Opens the inbox while nothing is open. An agent asks and waits; the person needs two keys.
export async function fresh(scene) {
  const page = await scene.open("/");
  await see(page, ".empty", "Nobody waits for you.");
  const asks = ["ask", "--item", "42", "--from", "engineer", "--to", "human", "--topic", "Tokens", "--question", "JWT or cookies?"];
  const agent = scene.begin(...asks, ...TOKENS, "--wait", "5m");
  await see(page, "article.card.open h2", "Tokens");
  await missing(page, ".empty");
  await see(page, "nav .count", "1");
  await page.keyboard.press("1");
  await page.keyboard.press("Enter");
  const told = await agent.data;
  same(told.answer.value, "jwt", "the agent's answer");
  await see(page, "article.card .answer", "JSON Web Token");
  await missing(page, "nav .count");
  same((await scene.question("CLR-42-001")).answer.via, "web", "the surface");
}

export async function mouse(scene) {
  const id = await scene.ask("Tokens", "JWT or cookies?", ...TOKENS);
  const page = await scene.open("/");
  await card(page, id).getByText("Session cookie").click();
  await card(page, id).getByText("Add a note").click();
  await card(page, id).getByRole("textbox", { name: "Note" }).fill("Until the audit.");
  await card(page, id).getByRole("button", { name: "Send answer" }).click();
  await see(page, "article.card .answer", "Until the audit.");
  const { answer } = await scene.question(id);
  same([answer.value, answer.note], ["cookie", "Until the audit."], "the answer");
}

// Text, several options, a number, yes or no, and words beside options.
export async function forms(scene) {
  const text = await scene.ask("Name", "What is it called?");
  const multi = await scene.ask("Browsers", "Which ones?", "--option", "f=Firefox", "--option", "c=Chromium", "--option", "s=Safari", "--expect", "multi_choice");
  const number = await scene.ask("Limit", "How many at once?", "--expect", "number");
  const yes = await scene.ask("Logs", "Keep them?", "--expect", "boolean");
  const free = await scene.ask("Store", "Where to?", "--option", "r=Redis", "--option", "p=Postgres", "--allow-free-text");
  const page = await scene.open("/");
  const { keyboard } = page;
  const answered = async (id) => {
    await card(page, id).locator(".answer").waitFor();
    return (await scene.question(id)).answer.value;
  };
  await card(page, text).locator("h2").click();
  await keyboard.press("1");
  await keyboard.type("Querent\nand more");
  await keyboard.press("Control+Enter");
  same(await answered(text), "Querent\nand more", "the text");
  await card(page, multi).locator("h2").click();
  for (const key of ["1", "2", "3", "2", "Enter"]) await keyboard.press(key);
  same(await answered(multi), ["f", "s"], "the options");
  await card(page, number).locator("h2").click();
  await keyboard.press("1");
  await keyboard.type("12.5");
  await keyboard.press("Enter");
  same(await answered(number), 12.5, "the number");
  await card(page, yes).getByText("No", { exact: true }).click();
  await card(page, yes).getByRole("button", { name: "Send answer" }).click();
  same(await answered(yes), false, "yes or no");
  await card(page, free).getByText("Redis").click();
  await card(page, free).getByRole("textbox", { name: "Or in your own words" }).fill("In both");
  await card(page, free).getByRole("button", { name: "Send answer" }).click();
  same(await answered(free), "In both", "the words");
}

export async function refused(scene) {
  const schema = JSON.stringify({ type: "object", required: ["port"] });
  await writeFile(`${scene.folder}/schema.json`, schema);
  const id = await scene.ask("Port", "Which settings?", "--expect", "json:@schema.json");
  const page = await scene.open("/");
  const typed = card(page, id).getByRole("textbox", { name: "Your answer, in JSON" });
  await typed.fill('{"host": "localhost"}');
  await card(page, id).getByRole("button", { name: "Send answer" }).click();
  await see(page, ".hint", "port");
  same(await typed.inputValue(), '{"host": "localhost"}', "what was typed");
  same((await scene.question(id)).status, "open", "the question");
  await typed.fill('{"port": 80}');
  await card(page, id).getByRole("button", { name: "Send answer" }).click();
  await card(page, id).locator(".answer").waitFor();
  same((await scene.question(id)).answer.value, { port: 80 }, "the answer");
}

// One key or one click alone sends nothing, wherever it falls.
export async function stray(scene) {
  const id = await scene.ask("Tokens", "JWT or cookies?", ...TOKENS);
  const page = await scene.open("/");
  const sent = [];
  page.on("request", (request) => { if (request.method() !== "GET") sent.push(request.postData()); });
  await page.keyboard.press("Enter");
  await see(page, ".hint", "Choose an answer first.");
  await page.keyboard.press("1");
  hold(await card(page, id).getByLabel("JSON Web Token").isChecked(), "1 chooses nothing");
  await card(page, id).getByText("Session cookie").click();
  for (const key of ["Space", "9", "a", "Escape", "ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
  await card(page, id).locator("h2").click();
  await card(page, id).locator("h2").dblclick();
  same((await scene.question(id)).status, "open", "the question");
  same(sent, [], "what was sent");
  await page.keyboard.press("Enter");
  await card(page, id).locator(".answer").waitFor();
  same(sent.length, 1, "how often it was sent");
  same((await scene.question(id)).answer.value, "cookie", "the answer");
}
