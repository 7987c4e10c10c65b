// The bench agent on the TypeScript SDK (`@agentclientprotocol/sdk`), written on its public API alone.
//
// It owns the answers to the bench prompts (`echo`, `stream N`, `tools N`, `big K`). Deliberately absent: anything the
// SDK's guide does not do. `agent(...).connect(ndJsonStream(...))` serves standard input and output, and every
// notification is awaited (that is the SDK's backpressure).

import { Readable, Writable } from "node:stream";
import { agent, methods, ndJsonStream } from "@agentclientprotocol/sdk";

const OPTIONS = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "allow_always", name: "Always allow", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];
const NOTE = "/home/somebody/project/notes/note.txt";
const PIECE = "a piece of a streamed answer, 40 letters ";
const KIB = "0123456789abcdef".repeat(64);

let cancelled = false;
let calls = 0;

const update = (client, sessionId, body) =>
  client.notify(methods.client.session.update, { sessionId, update: body });

const chunk = (client, sessionId, text) =>
  update(client, sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

async function tool(client, sessionId) {
  calls += 1;
  const toolCallId = `call_${calls}`;
  const call = {
    toolCallId,
    title: `read_file: ${NOTE}`,
    kind: "read",
    status: "pending",
    rawInput: { path: NOTE, limit: 1 },
    locations: [{ path: NOTE }],
  };
  await update(client, sessionId, { sessionUpdate: "tool_call", ...call });
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: call,
    options: OPTIONS,
  });
  const allowed = outcome.optionId === "allow" || outcome.optionId === "allow_always";
  if (allowed) {
    await update(client, sessionId, { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" });
  }
  await update(client, sessionId, {
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: allowed ? "completed" : "failed",
    content: [{ type: "content", content: { type: "text", text: "done" } }],
    rawOutput: { output: "done" },
  });
}

async function prompt({ params, client }) {
  cancelled = false;
  const { sessionId } = params;
  const text = params.prompt.map((block) => block.text).join("");
  const word = text.match(/^\S+/)[0];
  const count = word === "echo" ? 1 : Number(text.slice(word.length));
  if (word === "stream") {
    for (let index = 0; index < count && !cancelled; index += 1) {
      await chunk(client, sessionId, PIECE);
    }
  } else if (word === "tools") {
    for (let index = 0; index < count && !cancelled; index += 1) {
      await tool(client, sessionId);
    }
  } else if (word === "big") {
    await chunk(client, sessionId, KIB.repeat(count));
  } else {
    await chunk(client, sessionId, "echo");
  }
  return { stopReason: cancelled ? "cancelled" : "end_turn" };
}

agent({ name: "typescript-sdk" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: "typescript-sdk", version: "1" },
    agentCapabilities: {},
    authMethods: [],
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "typescript-sdk-1" }))
  .onRequest(methods.agent.session.prompt, prompt)
  .onNotification(methods.agent.session.cancel, () => {
    cancelled = true;
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
