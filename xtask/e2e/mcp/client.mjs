// The official TypeScript client, on the life of two questions. A line of JSON says what happened; the suite reads it.
// Usage: node client.mjs legacy|auto QUERENT

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, querent] = process.argv.slice(2);
const say = (step, said = {}) => console.log(JSON.stringify({ step, ...said }));

const server = () => new StdioClientTransport({ command: querent, args: ["mcp", "--agent", "engineer"] });
const client = new Client({ name: "querent-e2e", version: "0" }, { versionNegotiation: { mode } });
await client.connect(server());
say("connected", { version: client.getNegotiatedProtocolVersion() });

const call = (name, args, options) => client.callTool({ name, arguments: args }, options);
const question = (prompt, wait_seconds) => ({ item: "42", to: "human", topic: "Tokens", prompt, wait_seconds });

const { tools } = await client.listTools();
say("listed", { tools: tools.map((tool) => tool.name) });

const asked = await call("question_create", question("JWT or cookies?", 0));
say("asked", { data: asked.structuredContent });

const question_id = asked.structuredContent.question_id;
const answered = await call("await_answer", { question_id, wait_seconds: 40 }, { onprogress: () => say("waiting") });
say("answered", { data: answered.structuredContent, text: answered.content[0].text });

const stop = new AbortController();
try {
  await call("question_create", question("And for how long?", 40), {
    signal: stop.signal,
    onprogress: () => stop.abort("enough"),
  });
  say("not cancelled");
} catch (error) {
  say("cancelled", { error: String(error) });
}
const open = await call("question_list", { item: "42" });
say("open", { data: open.structuredContent });

const refused = await call("await_answer", { question_id: "CLR-42-999" });
say("refused", { is_error: refused.isError, data: refused.structuredContent });

try {
  await call("question_create", { topic: 7 });
  say("not malformed");
} catch (error) {
  say("malformed", { code: error.code });
}

await client.close();

// Another client has forms, and a person before it.
const capabilities = { elicitation: { form: {} } };
const attended = new Client({ name: "querent-e2e", version: "0" }, { versionNegotiation: { mode }, capabilities });
attended.setRequestHandler("elicitation/create", ({ params }) => {
  say("shown", { message: params.message, schema: params.requestedSchema });
  return { action: "accept", content: { answer: "A week." } };
});
await attended.connect(server());
const wait = { question_id: open.structuredContent.questions[0].id, wait_seconds: 40 };
const filled = await attended.callTool({ name: "await_answer", arguments: wait });
say("filled", { data: filled.structuredContent });

await attended.close();
say("closed");
