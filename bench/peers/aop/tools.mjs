// The tools of agentic-orchestrator in a project, called through its own client in this process, which is the faster of its two.

import { randomUUID } from "node:crypto";
import { AopKernel } from "agentic-orchestrator/dist/apps/control-plane/core/kernel.js";
import { createToolingRuntime, resolveToolClient } from "agentic-orchestrator/dist/apps/control-plane/mcp/runtime-factory.js";
import { createOperationId } from "agentic-orchestrator/dist/apps/control-plane/mcp/tool-client.js";
import { ANSWER, OPTIONS, PROMPT } from "../common/protocol.mjs";

export class Tools {
  static async open(project) {
    const kernel = new AopKernel(project);
    await kernel.ensureLoaded();
    const runtime = await createToolingRuntime(project, kernel, { generateToolsMarkdown: false });
    return new Tools(resolveToolClient("inprocess", runtime));
  }

  constructor(client) {
    this.client = client;
    this.begin();
  }

  /** A run of its own has a ledger of its own, which is rewritten with every call. */
  begin() {
    this.identity = { run_id: `run:${randomUUID()}`, session_id: "bench", actor_type: "system", actor_id: "bench" };
  }

  /** An item whose intake is over; until then it refuses answers if several questions were open. */
  async init(feature) {
    await this.#call("feature.init", feature, {});
    const intake = {
      status: "verified",
      bootstrap_manifest_version: 1,
      verified_manifest_version: 1,
      open_ambiguity_count: 0,
      last_verified_at: new Date().toISOString(),
      promotion_basis: "human_review_confirmed",
    };
    const patch = { front_matter: { status: "planning", intake } };
    await this.#call("feature.state_patch", feature, { patch });
  }

  async ask(feature) {
    const expected_answer = { kind: "single_choice", choices: OPTIONS };
    const question = { role: "builder", session_id: "bench", prompt: PROMPT, expected_answer };
    return (await this.#call("feature.question_create", feature, question)).question_id;
  }

  answer(feature, question_id) {
    return this.#call("feature.question_answer", feature, { question_id, answer: ANSWER, answered_by: "human" });
  }

  /** The questions of a feature that have the answer, as they are in its file. */
  async answered(feature) {
    const { items } = await this.#call("feature.question_list", feature, { status: "answered" }, false);
    return items.filter((it) => it.answer === ANSWER).map((it) => it.question_id);
  }

  async #call(tool, feature_id, args, changes = true) {
    const operation = changes ? { operation_id: createOperationId(tool, feature_id) } : {};
    const reply = await this.client.call(tool, { feature_id, ...args, ...operation }, this.identity);
    if (!reply.ok) {
      throw Object.assign(new Error(`${tool}: ${reply.error.message}`), { code: reply.error.code });
    }
    return reply.data;
  }
}
