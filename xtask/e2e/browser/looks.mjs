// How the pages look: on a phone, in the dark, to those who cannot see them, and with the worst that an agent can write.

import axe from "axe-core";
import { card, hold, same, see } from "./scene.mjs";
import { full } from "./stage.mjs";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

export async function phone(scene) {
  const pages = await full(scene);
  const page = await scene.open("/", PHONE);
  await card(page, "CLR-42-001").getByText("Bank B").tap();
  await card(page, "CLR-42-001").getByRole("button", { name: "Send answer" }).tap();
  await card(page, "CLR-42-001").locator(".answer", { hasText: "Bank B" }).waitFor();
  for (const [name, path] of pages) {
    await scene.go(page, path);
    await fits(page, name);
  }
}

async function fits(page, name) {
  const [whole, seen] = await page.evaluate(() => [document.scrollingElement.scrollWidth, document.documentElement.clientWidth]);
  hold(whole <= seen, `${name}: the page is ${whole} wide, and ${seen} are seen`);
}

export async function dark(scene) {
  await scene.ask("Tokens", "JWT or cookies?", "--option", "jwt=JSON Web Token");
  const bright = async (colorScheme) => {
    const page = await scene.open("/", { colorScheme });
    return page.evaluate(() => {
      const brightness = (colour) => colour.match(/\d+/g).slice(0, 3).map(Number).reduce((sum, part) => sum + part) / 765;
      const { backgroundColor, color } = getComputedStyle(document.documentElement);
      return { back: brightness(backgroundColor), text: brightness(color) };
    });
  };
  const [light, dark] = [await bright("light"), await bright("dark")];
  hold(light.back > 0.9 && light.text < 0.3, `light is ${JSON.stringify(light)}`);
  hold(dark.back < 0.15 && dark.text > 0.8, `dark is ${JSON.stringify(dark)}`);
}

// Nothing serious on any page, in both colour schemes.
export async function accessible(scene) {
  const found = [];
  const examine = async (page, name) => {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate((values) => window.axe.run(document, { runOnly: { type: "tag", values } }), RULES);
    for (const { id, impact, help, nodes } of violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
      found.push(`${name}: ${impact}: ${id}: ${help}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`);
    }
  };
  const schemes = ["light", "dark"];
  for (const colorScheme of schemes) await examine(await scene.open("/", { colorScheme }), `${colorScheme}, empty inbox`);
  await scene.crash();
  const pages = await full(scene);
  for (const colorScheme of schemes) {
    const page = await scene.open("/", { colorScheme });
    for (const [name, path] of pages) {
      await scene.go(page, path);
      await examine(page, `${colorScheme}, ${name}`);
    }
  }
  same(found, [], "what axe finds");
}

// The scene itself notes whatever is against the policy, and whatever a script does.
export async function policy(scene) {
  const pages = await full(scene);
  const page = await scene.open("/");
  for (const [, path] of pages) await scene.go(page, path);
}

export async function hostile(scene) {
  const evil = "<script>alert(1)</script><img src=x onerror=alert(2)> [a](javascript:alert(3)) \u202Eoverride\u202C \u0007 <style>*{display:none}</style>";
  const long = "w".repeat(180);
  const options = Array.from({ length: 20 }, (_, place) => ({ id: `o${place}`, label: `${evil.slice(0, 60)} ${place}`, description: evil, implications: long }));
  await scene.querent("item", "add", "66", "--title", `${evil.slice(0, 80)} ${long.slice(0, 60)}`);
  const call = ["ask", "--item", "66", "--from", "engineer", "--to", "human", "--no-blocking", "--topic", `${evil.slice(0, 100)} ${long.slice(0, 90)}`, "--question", `${evil} ${long} https://evil.example/${long}`];
  const { question_id: id } = await scene.querent(...call, "--context", `${evil}\n\n    ${long}\n\n| a | b |\n|---|---|\n| ${long} | c |`, "--options", JSON.stringify(options), "--evidence", `codebase_search=${evil}`, "--details", JSON.stringify({ evil, long }), "--allow-free-text");
  await scene.querent("assume", "--item", "66", "--agent", "engineer", "--decision", evil, "--reasoning", `${evil} ${long}`, "--confidence", "low", "--risk", "high", "--risk-note", evil);
  for (const shape of [{}, PHONE]) {
    const page = await scene.open("/", shape);
    for (const path of ["/", `/q/${id}`, "/board", "/waits", "/assumptions", "/digest", "/log"]) {
      await scene.go(page, path);
      same(await page.locator("script:not([src]), a[href^='javascript:' i], main img, main style").count(), 0, `${path}: what came through as markup`);
      hold(!/[\u202A-\u202E\u2066-\u2069]/.test(await page.locator("body").textContent()), `${path}: text is turned around`);
      await fits(page, path);
    }
  }
  const page = await scene.open("/");
  await card(page, id).getByRole("radio").nth(19).check();
  await card(page, id).getByRole("button", { name: "Send answer" }).click();
  await see(page, "article.card .answer");
  same((await scene.question(id)).answer.value, "o19", "the answer");
}
