// A project with its server and a browser, for one case. All of it ends with the case.

import { execFile, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

// How long anything may take to happen: far longer than it does on the slowest machine.
const PATIENCE = 60_000;

const TO_HUMAN = ["ask", "--from", "engineer", "--to", "human"];

export class Scene {
  constructor(binary, folder) {
    Object.assign(this, { binary, folder, children: new Set(), receivers: [], faults: [], browser: null, url: null, ago: null });
    // A crash of the driver leaves nothing behind.
    process.on("exit", () => this.children.forEach((child) => child.kill("SIGKILL")));
  }

  // The data of a call that must succeed.
  querent(...call) {
    return this.begin(...call).data;
  }

  // A call in a process of its own, under way: an agent, or another person.
  begin(...call) {
    let child;
    const data = new Promise((resolve, reject) => {
      child = execFile(this.binary, [...call, "--json"], { cwd: this.folder, env: environment(this.ago) }, (error, out) => {
        this.children.delete(child);
        const reply = out.startsWith("{") ? JSON.parse(out) : {};
        if (reply.ok) resolve(reply.data);
        else reject(new Error(`querent ${call.join(" ")}: ${out || error}`));
      });
    });
    data.catch(() => {});
    this.children.add(child);
    return { data };
  }

  // Asks a person without waiting, and says which question it is.
  async ask(topic, question, ...more) {
    const asked = await this.querent(...TO_HUMAN, "--item", "42", "--no-blocking", "--topic", topic, "--question", question, ...more);
    return asked.question_id;
  }

  async question(id) {
    return (await this.querent("show", id)).question;
  }

  // Changes the project's config.
  async configure(change) {
    const file = join(this.folder, ".querent/config.toml");
    await writeFile(file, change(await readFile(file, "utf8")));
  }

  // Starts the server, at a free port or at the one that it had.
  async serve() {
    const listen = this.url ? new URL(this.url).host : "127.0.0.1:0";
    this.server = spawn(this.binary, ["serve", "--listen", listen], { cwd: this.folder, env: environment(), stdio: ["ignore", "pipe", "ignore"] });
    this.children.add(this.server);
    for await (const line of createInterface({ input: this.server.stdout })) {
      if (!line.startsWith("listening on ")) throw new Error(`the server says: ${line}`);
      this.url = line.slice("listening on ".length);
      return;
    }
    throw new Error("the server did not listen");
  }

  // Ends the server as a crash does.
  async crash() {
    const gone = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill("SIGKILL");
    await gone;
    this.children.delete(this.server);
  }

  // A browser of somebody's own. Whatever goes wrong in it fails the case.
  async person(options = {}) {
    if (!this.url) await this.serve();
    const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
    this.browser ??= await chromium.launch({ executablePath: process.env.CHROMIUM, args: sandbox });
    const context = await this.browser.newContext({ viewport: { width: 1100, height: 900 }, reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(PATIENCE);
    await context.addInitScript(() => document.addEventListener("securitypolicyviolation", (it) => console.error(`against the policy: ${it.violatedDirective} ${it.blockedURI}`)));
    context.on("weberror", (it) => this.faults.push(`an error in the script: ${it.error()}`));
    context.on("dialog", (it) => { this.faults.push(`a dialog: ${it.message()}`); it.dismiss(); });
    context.on("console", (it) => { if (it.type() === "error" && !/^Failed to load resource/.test(it.text())) this.faults.push(it.text()); });
    return context;
  }

  // A page, in a browser of its own unless one is named.
  async open(path, options = {}) {
    const context = options.person ?? await this.person(options);
    const page = await context.newPage();
    await this.go(page, path);
    return page;
  }

  // Leads a page to a path, and waits until it hears of what happens.
  async go(page, path) {
    await page.goto(new URL(path, this.url).href);
    if (await page.locator("body[data-page=login], body[data-page=link], body[data-page=refusal]").count() === 0) await isLive(page);
  }

  // A receiver of notifications, with which the server must be started; it promises the next one.
  async receive() {
    let told;
    const next = new Promise((resolve, reject) => {
      told = resolve;
      setTimeout(() => reject(new Error("nobody was notified")), PATIENCE).unref();
    });
    next.catch(() => {});
    const receiver = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      response.end();
      told(JSON.parse(Buffer.concat(parts).toString()));
    });
    await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    this.receivers.push(receiver);
    const channel = `\n[[notify]]\nchannel = "webhook"\nurl = "http://127.0.0.1:${receiver.address().port}/"\nsecret_env = "QUERENT_E2E_SECRET"\n`;
    await this.configure((config) => config + channel);
    return { next };
  }

  async end() {
    await this.browser?.close();
    this.children.forEach((child) => child.kill("SIGKILL"));
    this.receivers.forEach((receiver) => { receiver.closeAllConnections(); receiver.close(); });
    if (this.faults.length > 0) throw new Error([...new Set(this.faults)].join("\n"));
  }
}

// The caller's own item and agent do not reach the binary. A library may tell it an earlier time, like `-20m`.
function environment(ago = null) {
  const { QUERENT_ITEM, QUERENT_AGENT, FAKETIME_LIBRARY, ...rest } = process.env;
  const clock = ago && { LD_PRELOAD: FAKETIME_LIBRARY, FAKETIME: ago, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
  return { ...rest, ...clock, QUERENT_E2E_SECRET: "not secret" };
}

// Waits until the page hears of what happens, with what happened before taken in.
export const isLive = (page) => page.locator("body[data-live=yes]").waitFor();

// Waits until such an element with this text is seen.
export const see = (page, selector, text) => page.locator(selector, text === undefined ? {} : { hasText: text }).first().waitFor();

// Waits until no such element with this text is seen.
export async function missing(page, selector, text) {
  const found = page.locator(selector, text === undefined ? {} : { hasText: text });
  while (await found.filter({ visible: true }).count() > 0) await found.filter({ visible: true }).first().waitFor({ state: "hidden" });
}

// The card of a question.
export const card = (page, id) => page.locator(`article.card[data-id="${id}"]`);

export function same(found, wanted, what) {
  const [left, right] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${what} is ${left} and not ${right}`);
}

export function hold(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}
