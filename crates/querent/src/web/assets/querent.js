// Makes the pages lively: the keyboard, answers without a reload, and whatever happens elsewhere. Without it they work all the same.
"use strict";

const page = document.body.dataset.page;
const cards = document.getElementById("cards");
const filter = document.getElementById("filter");
const announce = (text) => { document.getElementById("announce").textContent = text; };

// The selected card: one at a time, the first when the page opens.
const all = () => cards ? [...cards.querySelectorAll("article.card")].filter((card) => !card.hidden) : [];
let selected = null;

function select(card, scroll = true) {
  for (const other of document.querySelectorAll(".card.selected")) {
    other.classList.remove("selected");
    other.removeAttribute("aria-current");
  }
  selected = card ? card.dataset.id : null;
  if (!card) return;
  card.classList.add("selected");
  card.setAttribute("aria-current", "true");
  if (scroll) {
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
  }
}

const current = () => all().find((card) => card.dataset.id === selected) || null;

function move(by) {
  const list = all();
  if (list.length === 0) return;
  const place = list.indexOf(current());
  select(list[Math.min(list.length - 1, Math.max(0, place < 0 ? 0 : place + by))]);
}

// Answering: choose first, then send. A refusal keeps what was typed.
function hint(form, text) {
  const place = form.querySelector(".hint");
  if (place) place.textContent = text;
}

const isFilled = (form) => form.querySelector("input:checked") !== null || (form.elements.text && form.elements.text.value.trim() !== "");

async function send(form) {
  if (!isFilled(form)) { hint(form, "Choose an answer first."); return; }
  if (form.dataset.busy) return;
  form.dataset.busy = "yes";
  const card = form.closest("article");
  const button = form.querySelector("button");
  if (button) button.disabled = true;
  hint(form, "Sending…");
  try {
    const headers = { "X-Querent-Part": "1", "Content-Type": "application/x-www-form-urlencoded" };
    const reply = await fetch(form.action, { method: "POST", headers, body: new URLSearchParams(new FormData(form)), credentials: "same-origin" });
    const text = await reply.text();
    const fresh = parse(text).querySelector("article.card");
    const still = fresh && fresh.querySelector("form[data-answer]");
    if (fresh && !(still && fresh.querySelector(".error"))) {
      // It may have been settled elsewhere meanwhile; what the server said of this answer is shown all the same.
      const shown = card.isConnected ? card : document.getElementById(card.id);
      if (shown) replace(shown, fresh);
      announce(fresh.querySelector(".error") ? fresh.querySelector(".error").textContent : "Sent.");
    } else {
      const said = fresh ? fresh.querySelector(".error") : parse(text).querySelector(".error");
      hint(form, said ? said.textContent : "That did not work; reload the page.");
    }
  } catch {
    hint(form, "The server cannot be reached. Nothing was sent; try again.");
  } finally {
    delete form.dataset.busy;
    if (button) button.disabled = false;
  }
}

const parse = (text) => new DOMParser().parseFromString(text, "text/html");

function replace(card, fresh) {
  const was = card.dataset.id === selected;
  const adopted = document.adoptNode(fresh);
  card.replaceWith(adopted);
  tick();
  if (was) select(adopted, document.activeElement === document.body);
  return adopted;
}

// The reply to what is being sent says how its card ended.
const isBusy = (card) => card.querySelector("form[data-busy]") !== null;

// What a person has begun stays as it is.
function isTouched(card) {
  const form = card.querySelector("form[data-answer]");
  return form !== null && (isFilled(form) || form.contains(document.activeElement) && document.activeElement.tagName === "TEXTAREA");
}

// The page as it is now, taken over card by card: one that did not change keeps what was chosen in it.
let refreshing = false;
let again = false;
async function refresh() {
  if (!cards || !cards.dataset.fragment) return;
  if (refreshing) { again = true; return; }
  refreshing = true;
  try {
    do {
      again = false;
      const reply = await fetch(cards.dataset.fragment, { credentials: "same-origin" });
      if (reply.status === 401) { location.reload(); return; }
      if (!reply.ok) break;
      take(parse(await reply.text()));
      tick();
    } while (again);
  } catch {
    // The stream of events notices a server that is gone, and comes back here.
  } finally {
    refreshing = false;
  }
}

function take(fresh) {
  if (page !== "inbox" && page !== "assumptions") { takeWhole(fresh); return; }
  const known = new Map(all().concat([...cards.querySelectorAll("article.card[hidden]")]).map((card) => [card.dataset.id, card]));
  const wanted = [...fresh.querySelectorAll("article.card")];
  const ids = new Set(wanted.map((card) => card.dataset.id));
  for (const card of wanted) {
    const old = known.get(card.dataset.id);
    if (old && (old.dataset.version === card.dataset.version || isTouched(old))) continue;
    if (old) replace(old, card);
    else {
      const after = wanted.slice(wanted.indexOf(card) + 1).map((next) => known.get(next.dataset.id)).find((next) => next && next.isConnected);
      const adopted = document.adoptNode(card);
      if (after) after.before(adopted); else cards.append(adopted);
      announce("A new question: " + adopted.querySelector("h2").textContent);
    }
  }
  for (const [id, card] of known) if (!ids.has(id) && card.classList.contains("open") && !isBusy(card)) settle(card);
  for (const part of ["#summary", ".empty"]) {
    const [old, next] = [cards.querySelector(part), fresh.querySelector(part)];
    if (part === ".empty" && all().length > 0) { if (old) old.remove(); continue; }
    if (old && next) old.replaceWith(document.adoptNode(next));
    else if (next) cards.prepend(document.adoptNode(next));
    else if (old) old.textContent = "";
  }
  const summary = cards.querySelector("#summary");
  if (page === "inbox" && summary) count(Number(summary.dataset.total));
  narrow();
  if (!current()) select(all()[0] || null, false);
}

// How many wait, in the title and beside the way to the inbox.
function count(total) {
  document.title = document.title.replace(/^(\(\d+\) )?/, total > 0 ? `(${total}) ` : "");
  const link = document.querySelector('.top nav a[href="/"]');
  const badge = link.querySelector(".count") || document.createElement("span");
  badge.className = "count";
  badge.textContent = total;
  if (total > 0) link.append(" ", badge); else badge.remove();
}

// A question that waits no longer shows how it ended, and its buttons go away.
async function settle(card) {
  if (page !== "inbox") { card.remove(); return; }
  const reply = await fetch(`/q/${card.dataset.id}/card`, { credentials: "same-origin" }).catch(() => null);
  const fresh = reply && reply.ok ? parse(await reply.text()).querySelector("article.card") : null;
  if (!card.isConnected || isBusy(card)) return;
  if (!fresh) { card.remove(); return; }
  const adopted = replace(card, fresh);
  const by = adopted.querySelector(".answer strong");
  announce(`${adopted.dataset.id} is ${adopted.querySelector(".chip").textContent}${by ? ", answered by " + by.textContent : ""}.`);
}

function takeWhole(fresh) {
  const touched = all().find(isTouched);
  if (touched) {
    const same = fresh.querySelector(`article.card[data-id="${CSS.escape(touched.dataset.id)}"]`);
    if (same && same.classList.contains("open")) { same.replaceWith(touched); }
  }
  const active = document.activeElement && document.activeElement.id;
  cards.replaceChildren(...[...fresh.body.childNodes].map((node) => document.adoptNode(node)));
  if (active) { const back = document.getElementById(active); if (back) back.focus({ preventScroll: true }); }
  if (!current()) select(all()[0] || null, false); else select(current(), false);
}

// The filter hides what does not have all of its words.
function narrow() {
  if (!filter) return;
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = page === "log" ? document.querySelectorAll("#log tr") : (cards ? cards.querySelectorAll("article.card") : []);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
  if (cards && !current()) select(all()[0] || null, false);
}

// Times that run: how long ago, and how long until.
function rough(seconds) {
  if (seconds < 60) return `${Math.floor(seconds)}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86400)}d`;
}

function tick() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-age]")) {
    time.textContent = rough(Math.max(0, (now - Date.parse(time.dateTime)) / 1000)) + " ago";
  }
  for (const time of document.querySelectorAll("time[data-until]")) {
    const left = Math.max(0, Math.floor((Date.parse(time.dateTime) - now) / 1000));
    const [hours, minutes, seconds] = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60].map((n) => String(n).padStart(2, "0"));
    time.textContent = left >= 86400 ? rough(left) : (left >= 3600 ? `${hours}:` : "") + `${minutes}:${seconds}`;
  }
}

// What happens elsewhere. Nothing is missed across a lost connection: the stream goes on after the last event that was seen.
let last = null;
let wait = 500;
const banner = document.getElementById("connection");

function listen() {
  const source = new EventSource(last === null ? "/events" : `/events?since=${last}`);
  source.onopen = () => {
    const was = !banner.hidden;
    banner.hidden = true;
    wait = 500;
    document.body.dataset.live = "yes";
    if (was) announce("The connection is back.");
    refresh();
  };
  source.onerror = () => {
    source.close();
    banner.hidden = false;
    document.body.dataset.live = "no";
    setTimeout(listen, wait);
    wait = Math.min(wait * 2, 8000);
  };
  for (const kind of KINDS) source.addEventListener(kind, happened);
}

let later = null;
function happened(event) {
  last = event.lastEventId;
  if (page === "log") { row(event); return; }
  if (later === null) later = setTimeout(() => { later = null; refresh(); }, 20);
}

function row(event) {
  const log = document.getElementById("log");
  const it = JSON.parse(event.data);
  if (it.seq <= Number(log.dataset.last)) return;
  log.dataset.last = it.seq;
  const tr = document.createElement("tr");
  tr.className = "row fresh";
  const question = it.data && (typeof it.data.question === "string" ? it.data.question : it.data.question && it.data.question.id);
  for (const text of [it.seq, it.at.slice(11, 19), it.stream, it.by, it.type]) {
    const td = document.createElement("td");
    td.textContent = text;
    tr.append(td);
  }
  if (question) {
    const link = document.createElement("a");
    link.href = `/q/${encodeURIComponent(question)}`;
    link.textContent = it.type;
    tr.lastChild.replaceChildren(link);
  }
  const empty = document.getElementById("no-events");
  if (empty) empty.remove();
  log.prepend(tr);
  while (log.children.length > 500) log.lastChild.remove();
  narrow();
}

const KINDS = (document.body.dataset.kinds || "").split(" ").filter(Boolean);

// The keyboard.
document.addEventListener("keydown", (event) => {
  const tag = event.target.tagName;
  const own = event.target.closest("form[data-answer]");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && own) { event.preventDefault(); send(own); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isTyping = tag === "TEXTAREA" || (tag === "INPUT" && !["radio", "checkbox"].includes(event.target.type));
  if (event.key === "Escape" && isTyping) {
    if (event.target === filter) { filter.value = ""; narrow(); }
    event.target.blur();
    move(0);
    return;
  }
  if (isTyping) {
    if (event.key === "Enter" && event.target === filter) { event.preventDefault(); filter.blur(); move(0); }
    return;
  }
  const card = current();
  const form = card && card.querySelector("form[data-answer]");
  if (event.key === "j") { event.preventDefault(); move(1); }
  else if (event.key === "k") { event.preventDefault(); move(-1); }
  else if (event.key === "/" && filter) { event.preventDefault(); filter.focus(); filter.select(); }
  else if (event.key === "o" && card && page === "inbox") { location.href = `/q/${card.dataset.id}`; }
  else if (event.key === "u" && page === "question") { location.href = "/"; }
  else if (/^[1-9]$/.test(event.key) && form) {
    const option = form.querySelector(`[data-number="${event.key}"]`);
    if (option) {
      event.preventDefault();
      option.checked = option.type === "checkbox" ? !option.checked : true;
      option.focus();
      hint(form, "Enter sends it.");
    } else if (form.elements.text && event.key === "1") { event.preventDefault(); form.elements.text.focus(); }
  } else if (event.key === "Enter" && form && !["BUTTON", "A", "SUMMARY"].includes(tag)) { event.preventDefault(); send(form); }
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.matches("form[data-answer]")) { event.preventDefault(); send(form); }
});
document.addEventListener("focusin", (event) => {
  const card = event.target.closest && event.target.closest("article.card");
  if (card && card.dataset.id && card.dataset.id !== selected) select(card, false);
});
document.addEventListener("click", (event) => {
  const card = event.target.closest("article.card");
  if (card && card.dataset.id) select(card, false);
});
if (filter) filter.addEventListener("input", narrow);

// An answer is either chosen or typed: whoever does the one takes back the other's choice, never the other's words.
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-answer]");
  if (!form || event.target.name !== "text" || event.target.value.trim() === "") return;
  for (const option of form.querySelectorAll("input:checked")) option.checked = false;
});

tick();
setInterval(tick, 1000);
select(all()[0] || null, false);
if (!["login", "refusal", "link"].includes(page)) listen();
