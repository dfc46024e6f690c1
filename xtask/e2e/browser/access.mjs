// Who comes in, and what they may do.

import { card, isLive, missing, same, see } from "./scene.mjs";

const token = (scene, role, name) => scene.querent("token", "create", "--role", role, "--name", name);
const link = async (scene, id) => (await scene.querent("token", "link", id, "--at", scene.url)).url;

export async function login(scene) {
  const id = await scene.ask("Tokens", "JWT or cookies?", "--option", "jwt=JSON Web Token", "--option", "cookie=Session cookie");
  await scene.serve();
  const alice = await token(scene, "human", "alice");
  const page = await scene.open(`/q/${id}`);
  await see(page, "h1", "Log in");
  await missing(page, "body", "JWT or cookies?");

  const once = await link(scene, alice.id);
  await page.goto(once);
  await page.waitForURL((url) => url.pathname === "/");
  await isLive(page);
  await see(page, ".who", "alice");
  await card(page, id).getByText("Session cookie").click();
  await card(page, id).getByRole("button", { name: "Send answer" }).click();
  await card(page, id).locator(".answer", { hasText: "human:alice" }).waitFor();

  const other = await scene.open(once);
  await see(other, "h1", "Log in");
  await other.getByLabel("Token").fill("qrt_wrong");
  await other.getByRole("button", { name: "Log in" }).click();
  await see(other, ".error", "that is no token that is good for pages");
  await other.getByLabel("Token").fill(alice.token);
  await other.getByRole("button", { name: "Log in" }).click();
  await other.waitForURL((url) => url.pathname === "/");
  await see(other, ".who", "alice");

  await page.getByRole("button", { name: "Log out" }).click();
  await see(page, "h1", "Log in");
  await scene.go(page, "/");
  await see(page, "h1", "Log in");
}

export async function observer(scene) {
  const id = await scene.ask("Tokens", "JWT or cookies?", "--option", "jwt=JSON Web Token");
  await scene.querent("assume", "--item", "42", "--agent", "engineer", "--decision", "A week", "--reasoning", "So.", "--confidence", "low", "--risk", "low");
  await scene.serve();
  const { id: eve } = await token(scene, "observer", "eve");
  const person = await scene.person();
  const page = await person.newPage();
  await page.goto(await link(scene, eve));
  await page.waitForURL((url) => url.pathname === "/");
  await see(page, ".who", "eve (only reads)");
  for (const path of ["/", `/q/${id}`, "/assumptions"]) {
    await scene.go(page, path);
    await see(page, "article.card");
    same(await page.locator("main button, main input:not(#filter), main textarea").count(), 0, `${path}: what can be sent`);
  }
}
