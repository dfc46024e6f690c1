// Restate: a handler makes an awakeable and waits for it, and the answer comes through the ingress.
// Usage: node driver.mjs DIR

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { createEndpointHandler, service } from "@restatedev/restate-sdk";
import { connect } from "@restatedev/restate-sdk-clients";
import { ANSWER, OPTIONS, PROMPT, drive, measure } from "../common/protocol.mjs";
import { fetch as quick } from "./fetch.mjs";

const [dir] = process.argv.slice(2);
const require = createRequire(import.meta.url);
const HOST = "127.0.0.1";

/** Who is told the awakeable of a question, by the question's key. */
const told = new Map();

const questions = service({
  name: "questions",
  handlers: {
    // A handler that runs again after a crash makes the same awakeable, so telling of it twice does no harm.
    ask: async (context, { key }) => {
      const { id, promise } = context.awakeable();
      told.get(key)?.(id);
      return { key, answer: await promise };
    },
  },
});

async function cycle(ingress, key) {
  const awakeable = new Promise((tell) => told.set(key, tell));
  const waiter = ingress.serviceClient(questions).ask({ key, prompt: PROMPT, options: OPTIONS });
  await ingress.resolveAwakeable(await awakeable, ANSWER);
  const { answer } = await waiter;
  told.delete(key);
  if (answer !== ANSWER) throw new Error(`woken with ${answer}`);
  return key;
}

async function freePort() {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

/** The server, which ends with this process, whatever ends it. */
async function startServer() {
  const [ingress, admin, fabric] = await Promise.all([freePort(), freePort(), freePort()]);
  const program = require.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  const log = openSync(`${dir}/server.log`, "w");
  const server = spawn("setpriv", ["--pdeathsig", "TERM", program, "--base-dir", `${dir}/restate-data`], {
    stdio: ["ignore", log, log],
    env: {
      ...process.env,
      RESTATE_LISTEN_MODE: "tcp",
      RESTATE_BIND_ADDRESS: `${HOST}:${fabric}`,
      RESTATE_INGRESS__BIND_ADDRESS: `${HOST}:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `${HOST}:${admin}`,
      RESTATE_DISABLE_TELEMETRY: "true",
      // Of 24, the default, each has a log of its own; with one the server writes and syncs less often.
      RESTATE_DEFAULT_NUM_PARTITIONS: "1",
    },
  });
  closeSync(log);
  return { server, ingress: `http://${HOST}:${ingress}`, admin: `http://${HOST}:${admin}` };
}

/** Asks until the server is there. */
async function untilOk(server, ask) {
  while (server.exitCode === null) {
    const reply = await ask().catch(() => undefined);
    if (reply?.ok) return;
    await new Promise((done) => setTimeout(done, 50));
  }
  throw new Error(`restate-server ended with ${server.exitCode}; see ${dir}/server.log`);
}

const JSON_ONLY = { "content-type": "application/json", accept: "application/json" };
const post = (url, body) => fetch(url, { method: "POST", headers: JSON_ONLY, body: JSON.stringify(body) });

/** Counts the questions whose answer is in the journal of the server. */
async function found(admin, keys) {
  const query = "select entry_json from sys_journal where entry_type = 'Command: Output'";
  const { rows } = await (await post(`${admin}/query`, { query })).json();
  const outputs = rows.map((row) => JSON.parse(row.entry_json).Command.Output.result.Success);
  const kept = outputs.map((bytes) => JSON.parse(Buffer.from(bytes).toString()));
  const answered = new Set(kept.filter((it) => it.answer === ANSWER).map((it) => it.key));
  return keys.filter((key) => answered.has(key)).length;
}

const versionOf = (name) => `${name} ${require(`@restatedev/${name}/package.json`).version}`;

await drive(async () => {
  if (!Promise.withResolvers) throw new Error(`the SDK needs Node 22 or newer, and this is ${process.versions.node}`);
  const { server, ingress, admin } = await startServer();
  const endpoint = createHttp2Server(createEndpointHandler({ services: [questions], logger: () => {} })).listen(0, HOST);
  await once(endpoint, "listening");
  await untilOk(server, () => fetch(`${ingress}/restate/health`));
  await untilOk(server, () => post(`${admin}/deployments`, { uri: `http://${HOST}:${endpoint.address().port}` }));
  const client = connect({ url: ingress, fetch: quick });
  let asked = 0;
  const next = () => cycle(client, `question ${++asked}`);
  return {
    name: "Restate",
    version: `${versionOf("restate-server")}, ${versionOf("restate-sdk")}, Node ${process.versions.node}`,
    durable: true,
    setting:
      "One partition, which is faster than the default of 24, and its client on node:http, which is faster than fetch; " +
      "the rest by default: the log synced, journals kept.",
    cycles: (clients, cycles) => measure(clients, cycles, next, (keys) => found(admin, keys)),
    close: async () => {
      server.kill("SIGTERM");
      if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
    },
  };
});
