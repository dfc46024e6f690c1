// The keyboard: moving, filtering, opening, going back, and reaching everything.

import { hold, missing, same, see } from "./scene.mjs";
import { full } from "./stage.mjs";

const selected = (page) => page.locator("article.card.selected").getAttribute("data-id");

export async function moves(scene) {
  for (const topic of ["Alpha", "Beta", "Gamma"]) await scene.ask(topic, `What of ${topic}?`, "--option", "a=A", "--option", "b=B");
  const page = await scene.open("/");
  const ids = await page.locator("article.card").evaluateAll((cards) => cards.map((card) => card.dataset.id));
  const { keyboard } = page;
  same(await selected(page), ids[0], "the first selection");
  for (const [key, wanted] of [["j", 1], ["j", 2], ["j", 2], ["k", 1]]) {
    await keyboard.press(key);
    same(await selected(page), ids[wanted], `the selection after ${key}`);
  }
  await keyboard.press("/");
  await keyboard.type("gamma");
  await missing(page, "article.card", "What of Alpha?");
  await keyboard.press("Enter");
  same(await page.locator("article.card:visible h2").allTextContents(), ["Gamma"], "what is left");
  same(await selected(page), await page.locator("article.card:visible").getAttribute("data-id"), "the selection");
  await keyboard.press("/");
  await keyboard.press("Escape");
  hold(await page.evaluate(() => document.activeElement.id !== "filter"), "Escape does not leave the filter");
  await see(page, "article.card", "What of Alpha?");
  const open = await selected(page);
  await keyboard.press("o");
  await page.waitForURL(`**/q/${open}`);
  await see(page, "#thread", "Thread");
  await keyboard.press("u");
  await page.waitForURL((url) => url.pathname === "/");
}

// Tab comes by everything that can be used, and shows where it is. Of radio buttons that belong together it comes by one.
export async function tab(scene) {
  const pages = await full(scene);
  const page = await scene.open("/");
  for (const [name, path] of pages) {
    await scene.go(page, path);
    let found = await byTab(page, name);
    // A page is live: what it has just heard of may have replaced what was counted.
    for (let tries = 0; tries < 2 && found.reached !== found.wanted; tries += 1) found = await byTab(page, name);
    same(found.reached, found.wanted, `${name}: how many elements Tab reaches`);
  }
}

// How much there is to be used on a page, and how much of it Tab comes by.
async function byTab(page, name) {
  const wanted = await page.evaluate(() => {
    const usable = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), textarea, summary, [tabindex='0']")];
    const groups = new Map();
    for (const it of usable.filter((it) => it.checkVisibility())) {
      const group = it.type === "radio" ? `${it.form.action} ${it.name}` : groups.size;
      if (!groups.has(group)) groups.set(group, it);
    }
    [...groups.keys()].forEach((group, place) => groups.get(group).setAttribute("data-place", place));
    for (const it of usable.filter((it) => it.type === "radio" && groups.has(`${it.form.action} ${it.name}`))) {
      it.setAttribute("data-place", groups.get(`${it.form.action} ${it.name}`).dataset.place);
    }
    return groups.size;
  });
  const reached = new Set();
  for (let steps = 0; steps < wanted * 2 && reached.size < wanted; steps += 1) {
    await page.keyboard.press("Tab");
    const [place, shown, what] = await page.evaluate(() => {
      const it = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(it);
      return [it.dataset.place, outlineStyle !== "none" && parseFloat(outlineWidth) >= 2, it.outerHTML.slice(0, 200)];
    });
    if (place === undefined) continue;
    reached.add(place);
    hold(shown, `${name}: the focus is not seen on ${what}`);
  }
  return { reached: reached.size, wanted };
}

export async function assumptions(scene) {
  const assume = (decision, risk) => scene.querent("assume", "--item", "42", "--agent", "engineer", "--decision", decision, "--reasoning", "The code does so.", "--confidence", "medium", "--risk", risk);
  await assume("Sessions live for a week", "high");
  await assume("Names are not unique", "low");
  const page = await scene.open("/assumptions");
  const { keyboard } = page;
  // The page hears of the judgement before the reply to it comes.
  await page.route("**/review", async (route) => {
    const heard = page.waitForResponse("**/assumptions/parts");
    const response = await route.fetch();
    await (await heard).finished();
    await route.fulfill({ response });
  }, { times: 1 });
  await keyboard.press("2");
  await keyboard.press("Enter");
  await see(page, "article.card .chip", "overturned");
  await keyboard.press("j");
  await keyboard.press("1");
  await keyboard.press("Enter");
  await see(page, "article.card .chip", "confirmed");
  const { assumptions: all } = await scene.querent("assumptions", "--status", "all");
  const judged = Object.fromEntries(all.map((it) => [it.decision, it.status]));
  same(judged["Sessions live for a week"], "overturned", "the first");
  same(judged["Names are not unique"], "confirmed", "the second");
}
