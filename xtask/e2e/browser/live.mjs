// What happens elsewhere is seen at once, and nothing of it is missed.

import { card, hold, isLive, missing, same, see } from "./scene.mjs";
import { circle } from "./stage.mjs";

const TOKENS = ["--option", "jwt=JSON Web Token", "--option", "cookie=Session cookie"];

export async function commandLine(scene) {
  const id = await scene.ask("Tokens", "JWT or cookies?", ...TOKENS);
  const [inbox, thread] = [await scene.open("/"), await scene.open(`/q/${id}`)];
  await card(thread, id).getByRole("button", { name: "Send answer" }).waitFor();
  await scene.querent("answer", id, "--answer", "jwt", "--by", "human:carol");
  for (const page of [inbox, thread]) {
    await see(page, "article.card .answer", "human:carol");
    await missing(page, "button", "Send answer");
  }
  await see(thread, ".thread .entry.reply", "human:carol");
}

// Alice answers while Bob looks. Then both send at the same time: both requests are held back until both are made.
export async function two(scene) {
  const [first, second] = [await scene.ask("Tokens", "JWT or cookies?", ...TOKENS), await scene.ask("Store", "Where to?", "--option", "r=Redis", "--option", "p=Postgres")];
  const [alice, bob] = [await named(scene, "alice"), await named(scene, "bob")];
  await card(alice, first).getByText("Session cookie").click();
  await card(alice, first).getByRole("button", { name: "Send answer" }).click();
  await card(bob, first).locator(".answer", { hasText: "human:alice" }).waitFor();
  same(await card(bob, first).locator("button").count(), 0, "how many buttons are left");

  const held = [];
  let release;
  const both = new Promise((resolve) => { release = resolve; });
  for (const page of [alice, bob]) {
    await page.route("**/answer", async (route) => { if (held.push(page) === 2) release(); await both; await route.continue(); });
  }
  for (const [page, option] of [[alice, "Redis"], [bob, "Postgres"]]) {
    await card(page, second).getByText(option).click();
    await card(page, second).getByRole("button", { name: "Send answer" }).click();
  }
  const { by } = await answered(scene, second, [alice, bob]);
  const [winner, loser] = by === "human:alice" ? [alice, bob] : [bob, alice];
  await card(loser, second).locator(".error", { hasText: `${by} was first. Your answer was not taken.` }).waitFor();
  for (const page of [winner, loser]) await card(page, second).locator(".answer", { hasText: by }).waitFor();
  same(await card(winner, second).locator(".error").count(), 0, "how many errors the first one sees");
}

async function named(scene, name) {
  const { id } = await scene.querent("token", "create", "--role", "human", "--name", name);
  const person = await scene.person();
  const page = await person.newPage();
  await page.goto((await scene.querent("token", "link", id, "--at", scene.url)).url);
  await page.waitForURL((url) => url.pathname === "/");
  await isLive(page);
  return page;
}

async function answered(scene, id, pages) {
  await Promise.all(pages.map((page) => card(page, id).locator(".answer").waitFor()));
  return (await scene.question(id)).answer;
}

// The server is killed and started again; what happened meanwhile is shown, and what was chosen is still chosen.
export async function restart(scene) {
  const [kept, gone] = [await scene.ask("Tokens", "JWT or cookies?", ...TOKENS), await scene.ask("Name", "What is it called?")];
  const page = await scene.open("/");
  await card(page, kept).getByText("Session cookie").click();
  await scene.crash();
  await see(page, "#connection", "The connection to the server is lost.");
  await card(page, kept).getByRole("button", { name: "Send answer" }).click();
  await see(page, ".hint", "The server cannot be reached. Nothing was sent; try again.");
  const late = await scene.ask("Logs", "Keep them?", "--expect", "boolean");
  await scene.querent("answer", gone, "--answer", "Querent");
  await scene.serve();
  await page.locator("#connection").waitFor({ state: "hidden" });
  await card(page, late).waitFor();
  await card(page, gone).locator(".answer", { hasText: "Querent" }).waitFor();
  hold(await card(page, kept).getByLabel("Session cookie").isChecked(), "the choice is lost");
  await card(page, kept).getByRole("button", { name: "Send answer" }).click();
  await card(page, kept).locator(".answer").waitFor();
}

export async function waits(scene) {
  const page = await scene.open("/waits");
  await see(page, ".empty", "Nobody waits for anybody.");
  await circle(scene);
  await see(page, "p", "3 of them wait for each other in a circle, drawn in red.");
  same(await page.locator(".edge.cycle").count(), 3, "how many arrows are red");
  const colours = await page.locator(".edge.cycle").evaluateAll((edges) => edges.map((edge) => getComputedStyle(edge).stroke));
  for (const colour of colours) {
    const [red, green, blue] = colour.match(/\d+/g).map(Number);
    hold(red > 2 * green && red > 2 * blue, `${colour} is not red`);
  }
}

export async function events(scene) {
  const page = await scene.open("/log");
  const id = await scene.ask("Tokens", "JWT or cookies?", ...TOKENS);
  await see(page, "#log tr:first-child a", "question_asked");
  await page.keyboard.press("/");
  await page.keyboard.type("question_answered");
  await missing(page, "#log tr", "question_asked");
  await scene.querent("answer", id, "--answer", "jwt");
  await see(page, "#log tr", "question_answered");
  await missing(page, "#log tr", "question_asked");
  await page.locator("#log tr a", { hasText: "question_answered" }).click();
  await page.waitForURL(`**/q/${id}`);
}

// Nobody answers. Every number that the countdown shows is noted by the page itself.
export async function deadline(scene) {
  await scene.configure((config) => config.replace(/^timeout = .*$/m, 'timeout = "10s"'));
  const page = await scene.open("/");
  await page.evaluate(() => {
    window.countdown = [];
    new MutationObserver(() => {
      const text = document.querySelector("time[data-until]")?.textContent;
      if (text && text !== window.countdown.at(-1)) window.countdown.push(text);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  const id = await scene.ask("Tokens", "JWT or cookies?", ...TOKENS, "--fallback", "cookie", "--because", "it is what the code does");
  await see(page, "article.card .deadline", "“Session cookie” is taken: it is what the code does");
  await card(page, id).locator(".answer", { hasText: "the fallback that the asker declared" }).waitFor();
  await missing(page, "button", "Send answer");
  const shown = await page.evaluate(() => window.countdown);
  hold(shown.length > 1 && shown.every((text) => /^00:\d\d$/.test(text)), `the countdown shows ${shown}`);
  same(shown, [...shown].sort().reverse(), "the countdown");
}
