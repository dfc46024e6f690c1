// Makes the pictures of the README: a shop in the middle of its work, as the pages show it.
// Usage: CHROMIUM=PATH FAKETIME_LIBRARY=PATH node screenshots.mjs QUERENT FOLDER IMAGES

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Scene } from "./scene.mjs";

const [binary, folder, images] = process.argv.slice(2);
const scene = new Scene(binary, folder);

// A call that was made so long ago.
function ago(span, ...call) {
  scene.ago = `-${span}`;
  return scene.querent(...call);
}

const asks = (span, item, from, to, topic, question, ...more) => ago(span, "ask", "--item", item, "--from", from, "--to", to, "--topic", topic, "--question", question, ...more);

// What was asked and settled since yesterday: who asked whom, after how long it was answered, and how.
const SETTLED = [
  ["25h", "45", "engineer", "architect", "Search index", "Is the index built on write or by a job?", "24h", "On write, in the same transaction."],
  ["22h", "45", "engineer", "architect", "Ranking", "Does a match in the title count more?", "21h", "Twice as much as one in the text."],
  ["20h", "46", "engineer", "architect", "Limits", "Is the limit for an address or for an account?", "1190m", "For an account; addresses are shared."],
  ["18h", "46", "reviewer", "engineer", "Burst", "Why does the test allow twenty calls at once?", "1070m", "The bucket holds twenty; the page says so now."],
  ["16h", "44", "architect", "product-manager", "Paper", "Is A4 enough, or is Letter needed as well?", "950m", "Both: half of our customers are in the US."],
  ["7h", "44", "engineer", "architect", "Fonts", "May the PDF embed a subset of a font?", "6h", "Yes, its licence allows subsets."],
  ["5h", "44", "engineer", "human", "Company address", "Which address stands on invoices?", "270m", "The one in Lyon."],
];

async function history() {
  const items = [["42", "Sign in by e-mail"], ["43", "Cart totals"], ["44", "Invoices as PDF"], ["45", "Search suggestions"], ["46", "Rate limits"], ["47", "Gift cards"]];
  for (const [item, title] of items) await ago("26h", "item", "add", item, "--title", title);
  const stages = [["42", "implement"], ["43", "implement"], ["44", "implement"], ["45", "review"], ["46", "review"], ["47", "architecture"]];
  for (const [item, stage] of stages) await ago("26h", "item", "move", item, "--to", stage);
  for (const [asked, item, from, to, topic, question, answered, answer] of SETTLED) {
    const { question_id: id } = await asks(asked, item, from, to, topic, question, "--no-blocking");
    await ago(answered, "answer", id, "--by", to === "human" ? "human:mara" : to, "--answer", answer);
    if (to !== "human") await ago(answered, "resolve", id, "--by", from, "--note", "Understood.");
  }
  const decided = ["assume", "--item", "45", "--agent", "engineer", "--decision", "Suggestions appear after two letters", "--reasoning", "One letter matches half of the catalogue.", "--confidence", "high", "--risk", "low"];
  await ago("3h", ...decided);
}

// What is open now.
async function present() {
  const options = (...all) => ["--options", JSON.stringify(all.map(([id, label, description, implications]) => ({ id, label, description, implications })))];
  const { question_id: thread } = await asks("50m", "42", "engineer", "architect", "Lifetime of sign-in links", "How long does a sign-in link stay valid?", "--no-blocking", ...options(
    ["short", "15 minutes", "As the security guide has it.", "People whose mail is slow ask for a second link."],
    ["day", "24 hours", "As the product brief has it.", "A link in a mailbox that others read is good for a day."],
  ), "--evidence", "codebase_search=no lifetime in the code", "--evidence", "similar_features=password reset uses 15 minutes");
  await ago("44m", "answer", thread, "--by", "architect", "--answer", "short");
  await ago("41m", "follow-up", thread, "--from", "engineer", "--question", "The product brief says *24 hours*. Which of the two holds?");
  await ago("36m", "escalate", thread, "--by", "engineer", "--summary", "The security guide wants 15 minutes, the product brief 24 hours. Neither of us can decide that.");
  await asks("12m", "43", "engineer", "human", "Rounding of totals", "How is a **total** rounded? `cart.rs` rounds each line, the ticket shows a rounded sum.", "--context", "They differ by a cent in about one cart of eight.", ...options(
    ["sum", "Round the sum", "As the ticket shows it.", "Lines may not add up to the total."],
    ["line", "Round each line", "As the code does it today.", "The total may differ from the accountant's by a cent."],
  ), "--recommend", "sum", "--fallback", "line", "--because", "it is what the code does today", "--fallback-risk", "low", "--expires-in", "30m", "--allow-free-text");
  await asks("4m", "44", "engineer", "human", "Old invoices", "Are invoices of last year made anew in the new layout?", "--expect", "boolean", "--no-blocking");
}

// Then three wait for each other. The monitor would break that within minutes, by asking a person.
async function circle() {
  const workflow = join(folder, ".querent/workflows/feature.toml");
  const own = 'agent = "product-manager"';
  await writeFile(workflow, (await readFile(workflow, "utf8")).replace(own, `${own}\ncan_clarify = ["engineer"]`));
  await ago("3m", "item", "add", "48", "--title", "Refunds");
  await asks("3m", "45", "reviewer", "engineer", "Empty query", "What does the box suggest before anything is typed?");
  await asks("2m", "46", "engineer", "architect", "Headers", "Do refused calls say when to come back?");
  await asks("2m", "47", "architect", "product-manager", "Expiry", "Do gift cards expire?");
  await asks("1m", "48", "product-manager", "engineer", "Part refunds", "Can the payment service refund a part?");
}

const wide = (height) => ({ width: 1100, height });

async function picture(path, name, options) {
  const page = await scene.open(path, options);
  await page.screenshot({ path: join(images, `${name}.png`) });
  await page.context().close();
}

try {
  await history();
  await present();
  scene.ago = null;
  await picture("/", "inbox", { viewport: wide(900) });
  await picture("/", "inbox-dark", { viewport: wide(900), colorScheme: "dark" });
  await picture("/", "phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await picture("/q/CLR-42-001", "question", { viewport: wide(960) });
  await picture("/digest?since=7d", "digest", { viewport: wide(820) });
  await picture("/board", "board", { viewport: wide(480) });
  await circle();
  scene.ago = null;
  await picture("/waits", "waits", { viewport: wide(680) });
} finally {
  await scene.end();
}
