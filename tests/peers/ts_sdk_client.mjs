/**
 * A client on the TypeScript SDK (npm `@agentclientprotocol/sdk`), written on its public API alone.
 *
 *     node ts_sdk_client.mjs AGENT_COMMAND_LINE PROMPT CWD
 *
 * It does what the SDK's README shows: `client()`, a handler for each thing an agent may ask, `ndJsonStream` over the
 * pipes of a child process, `request` and `notify`. What the SDK leaves to an application is done by the letter of the
 * protocol: permissions are answered `cancelled` with their turn or when the SDK says that the agent has withdrawn them,
 * files know their session, a question in an unknown mode is refused. A plan stands as its last update gave it. The user
 * is the one of user.py. Not done: terminals and login in a terminal, which are not offered, and how tool calls stand on
 * the screen, for which the SDK has nothing.
 */

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import * as acp from "@agentclientprotocol/sdk";

const CALL_MS = 30_000;
const TURN_MS = 60_000;
const CANCEL_MS = 5_000;
const EXIT_MS = 5_000;
const AUTH_REQUIRED = -32000;
const KINDS = ["allow_once", "allow_always", "reject_once", "reject_always"];
const SHOWN_AS = { agent_message_chunk: "message", agent_thought_chunk: "thought", user_message_chunk: "user" };
const COUNTED = { agent_message_chunk: "chunk", agent_thought_chunk: "thought", tool_call: "tool_call" };
const CAPABILITIES = {
  fs: { readTextFile: true, writeTextFile: true },
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} } },
};
const { agent: TO_AGENT, client: TO_CLIENT } = acp.methods;

/** A failure whose message is for the user. */
class CannotGoOn extends Error {}

/** What the user does (ACP_HARNESS_PLAN) and sees (ACP_HARNESS_DISPLAY); docs/harness.md describes both. */
class User {
  steps = JSON.parse(process.env.ACP_HARNESS_PLAN ?? "[]");
  choice = "allow_once";
  counts = {};
  text = "";
  session = null;
  turn = 0;
  inTurn = false;
  replaying = false;
  exitCode = 0;
  started = performance.now();
  turnStarted = this.started;

  /** The next unused step of a moment. */
  take(on) {
    const at = this.steps.findIndex((step) => step.on === on);
    return at < 0 ? null : this.steps.splice(at, 1)[0];
  }

  /** Whether a cancel that waits for updates or milliseconds is due; it is used then. */
  stopsNow() {
    const counts = { ...this.counts, ms: performance.now() - this.turnStarted };
    const at = this.steps.findIndex((step) => {
      const [what, number] = (step.after ?? "").split(":");
      return this.inTurn && number !== undefined && (counts[what] ?? 0) >= Number(number);
    });
    if (at >= 0) this.steps.splice(at, 1);
    return at >= 0;
  }

  /** After how many milliseconds of a turn `stopsNow` is to be asked. */
  stopTimes() {
    return this.steps.filter((step) => step.after?.startsWith("ms:")).map((step) => Number(step.after.slice(3)));
  }

  /** The id of the option of the plan's choice, else one that refuses, else any; undefined if there is none. */
  choose(step, options) {
    this.choice = step?.choose ?? this.choice;
    const key = KINDS.includes(this.choice) ? "kind" : "optionId";
    const chosen =
      options.find((option) => option[key] === this.choice) ??
      options.find((option) => option.kind.startsWith("reject")) ??
      options[0];
    return chosen?.optionId;
  }

  beginTurn(text) {
    this.turn += 1;
    this.inTurn = true;
    this.counts = {};
    this.text = "";
    this.turnStarted = performance.now();
    this.show("user", { text });
  }

  endTurn(stopReason) {
    this.show("end", { stopReason, text: this.text });
    this.inTurn = false;
    if (!["end_turn", "cancelled"].includes(stopReason)) this.exitCode ||= 3;
  }

  failTurn(sentence) {
    this.show("error", { text: sentence });
    this.inTurn = false;
    this.exitCode ||= 1;
  }

  see(update, session) {
    const kind = update.sessionUpdate;
    if (this.inTurn) {
      for (const name of ["update", COUNTED[kind]]) {
        if (name) this.counts[name] = (this.counts[name] ?? 0) + 1;
      }
    }
    if (!(kind in SHOWN_AS)) {
      this.show(kind, { session, update, ...(kind === "plan" && { entries: update.entries }) });
    } else if (update.content.type === "text") {
      if (kind === "agent_message_chunk" && this.inTurn) this.text += update.content.text;
      this.show(SHOWN_AS[kind], { session, text: update.content.text });
    }
  }

  show(kind, members = {}) {
    const file = process.env.ACP_HARNESS_DISPLAY;
    if (!file) return;
    const t = (performance.now() - this.started) / 1000;
    const record = { t, kind, session: this.session, turn: this.inTurn ? this.turn : null };
    if (this.replaying) record.replay = true;
    appendFileSync(file, `${JSON.stringify({ ...record, ...members })}\n`);
  }
}

/** The conversation, and what the agent may ask. */
class SdkClient {
  user = new User();
  held = new Set();
  cancelled = false;
  whenCancelled = () => {};
  offers = {};
  authMethods = [];
  modes = new Set();
  options = new Set();
  opening = false;
  heard = 0;

  constructor(cwd) {
    this.cwd = cwd;
  }

  /** The client of the SDK with its handlers. */
  app() {
    return acp
      .client({ name: "ts-sdk-client" })
      .onNotification(TO_CLIENT.session.update, ({ params }) => this.onUpdate(params))
      .onRequest(TO_CLIENT.session.requestPermission, ({ params, signal }) => this.onPermission(params, signal))
      .onRequest(TO_CLIENT.elicitation.create, ({ params }) => this.onElicitation(params))
      .onRequest(TO_CLIENT.fs.readTextFile, ({ params }) => this.readTextFile(params))
      .onRequest(TO_CLIENT.fs.writeTextFile, ({ params }) => this.writeTextFile(params));
  }

  async onUpdate({ sessionId, update }) {
    this.heard += 1;
    // While a session is being opened, its id is not known yet.
    if (!this.opening && sessionId !== this.user.session) return;
    this.user.see(update, sessionId);
    if (this.user.stopsNow()) await this.stop();
  }

  async onPermission({ sessionId, toolCall, options }, signal) {
    this.checkSession(sessionId);
    this.user.show("permission", { toolCall, options });
    if (!this.user.inTurn) throw acp.RequestError.invalidRequest({ details: "no turn is active" });
    if (!this.cancelled) {
      const step = this.user.take("permission");
      if (!step?.do) {
        const optionId = this.user.choose(step, options);
        if (optionId === undefined) throw acp.RequestError.invalidParams({ details: "there is nothing to choose from" });
        this.user.show("permission_answer", { optionId });
        return { outcome: { outcome: "selected", optionId } };
      }
      const over = new Promise((resolve) => {
        this.held.add(resolve);
        signal.addEventListener("abort", resolve);
      });
      if (step.do === "cancel") await this.stop();
      await over;
    }
    this.user.show("permission_answer", { cancelled: true });
    return { outcome: { outcome: "cancelled" } };
  }

  onElicitation({ message, mode }) {
    if (!(mode in CAPABILITIES.elicitation)) throw acp.RequestError.invalidParams({ details: `no mode ${mode}` });
    this.user.show("elicitation", { text: message });
    const step = this.user.take("elicitation") ?? { do: "decline" };
    if (step.do) return { action: step.do };
    return mode === "form" ? { action: "accept", content: step.content ?? {} } : { action: "accept" };
  }

  async readTextFile({ sessionId, path: file, line, limit }) {
    this.checkSession(sessionId);
    if (line != null && line < 1) throw acp.RequestError.invalidParams({ details: "lines are counted from 1" });
    const text = await readFile(this.inside(file), "utf8").catch(() => {
      throw acp.RequestError.resourceNotFound(file);
    });
    if (line == null && limit == null) return { content: text };
    const start = (line ?? 1) - 1;
    const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
    return { content: lines.slice(start, limit == null ? undefined : start + limit).join("") };
  }

  async writeTextFile({ sessionId, path: file, content }) {
    this.checkSession(sessionId);
    await mkdir(path.dirname(this.inside(file)), { recursive: true });
    await writeFile(file, content, "utf8");
    return {};
  }

  inside(file) {
    const relative = path.relative(this.cwd, file);
    if (!path.isAbsolute(file) || relative.startsWith("..")) {
      throw acp.RequestError.invalidParams({ details: "the path is not one of the session's directory" });
    }
    return file;
  }

  checkSession(sessionId) {
    if (sessionId !== this.user.session) throw acp.RequestError.resourceNotFound(sessionId);
  }

  /** From initialize to the last step of the plan. */
  async converse(agent, prompt) {
    this.agent = agent;
    const hello = await this.call(TO_AGENT.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: CAPABILITIES,
      clientInfo: { name: "ts-sdk-client", version: "1" },
    });
    if (hello.protocolVersion !== acp.PROTOCOL_VERSION) {
      throw new CannotGoOn(`the agent speaks version ${hello.protocolVersion} of the protocol`);
    }
    this.offers = hello.agentCapabilities ?? {};
    this.authMethods = hello.authMethods ?? [];
    for (let step; (step = this.user.take("start")) && !(await this.changeSession(step)); );
    if (this.user.session === null) await this.newSession();
    for (let step; (step = this.user.take("ready")); ) await this.do(step);
    await this.prompt(prompt);
    for (let step; (step = this.user.take("end")); ) await this.do(step);
  }

  /** The result of a request that is no prompt. */
  async call(method, params) {
    return await within(CALL_MS, this.agent.request(method, params), "the agent does not answer");
  }

  /** session/new, with one login if the agent wants it. */
  async newSession() {
    const params = { cwd: this.cwd, mcpServers: [] };
    let opened;
    this.opening = true;
    try {
      opened = await this.call(TO_AGENT.session.new, params);
    } catch (error) {
      if (error.code !== AUTH_REQUIRED) throw error;
      const method = this.authMethods.find((one) => (one.type ?? "agent") === "agent");
      if (!method) throw new CannotGoOn("the agent wants a login that this client cannot do");
      this.user.show("login", { text: method.name });
      await this.call(TO_AGENT.authenticate, { methodId: method.id });
      opened = await this.call(TO_AGENT.session.new, params);
    } finally {
      this.opening = false;
    }
    this.user.session = opened.sessionId;
    this.noteOffers(opened);
  }

  /** What a session lets its user set. */
  noteOffers(opened) {
    this.modes = new Set(opened?.modes?.availableModes.map((mode) => mode.id));
    this.options = new Set(opened?.configOptions?.map((option) => option.id));
  }

  /** load, resume or list; returns whether a session is open now. */
  async changeSession(step) {
    const can = this.offers.sessionCapabilities ?? {};
    let id = step.sessionId ?? this.user.session;
    const listed = [];
    if ((step.do === "list" || id === "first") && can.list) {
      try {
        for (let cursor, page; !page || cursor != null; cursor = page.nextCursor) {
          page = await this.call(TO_AGENT.session.list, cursor == null ? {} : { cursor });
          listed.push(...page.sessions);
        }
      } catch (error) {
        if (!(error instanceof acp.RequestError)) throw error;
        this.user.show("error", { text: error.message });
      }
    }
    if (id === "first") id = listed[0]?.sessionId;
    if (id == null || !(step.do === "load" ? this.offers.loadSession : step.do === "resume" && can.resume)) return false;
    const before = this.user.session;
    this.user.session = id;
    this.user.replaying = step.do === "load";
    try {
      const method = step.do === "load" ? TO_AGENT.session.load : TO_AGENT.session.resume;
      this.noteOffers(await this.call(method, { sessionId: id, cwd: this.cwd, mcpServers: [] }));
    } catch (error) {
      if (!(error instanceof acp.RequestError)) throw error;
      this.user.session = before;
      this.user.show("error", { text: error.message });
    } finally {
      this.user.replaying = false;
    }
    return this.user.session !== null;
  }

  /** A step between turns; what goes wrong is shown, and the run goes on. */
  async do(step) {
    const sessionId = this.user.session;
    try {
      if (step.do === "prompt") await this.prompt(step.text);
      else if (step.do === "set_mode" && this.modes.has(step.mode)) {
        await this.call(TO_AGENT.session.setMode, { sessionId, modeId: step.mode });
      } else if (step.do === "set_config" && this.options.has(step.configId)) {
        const value = typeof step.value === "boolean" ? { type: "boolean", value: step.value } : { value: step.value };
        await this.call(TO_AGENT.session.setConfigOption, { sessionId, configId: step.configId, ...value });
      } else if (["load", "resume", "list"].includes(step.do)) await this.changeSession(step);
      else if (step.do === "new") await this.newSession();
      else if (step.do === "close" && this.offers.sessionCapabilities?.close) {
        await this.call(TO_AGENT.session.close, { sessionId });
      } else if (step.do === "cancel") await this.agent.notify(TO_AGENT.session.cancel, { sessionId });
      else if (step.do === "wait") await this.wait();
    } catch (error) {
      if (!(error instanceof acp.RequestError)) throw error;
      this.user.show("error", { text: error.message });
    }
  }

  /** One turn, to its end or until it is given up. */
  async prompt(text) {
    this.cancelled = false;
    const cancelled = new Promise((resolve) => (this.whenCancelled = resolve));
    this.user.beginTurn(text);
    const stops = this.user.stopTimes().map((ms) => setTimeout(() => this.user.stopsNow() && this.stop(), ms));
    const params = { sessionId: this.user.session, prompt: [{ type: "text", text }] };
    const turn = this.agent.request(TO_AGENT.session.prompt, params);
    const givenUp = "the agent does not end the turn";
    try {
      const cut = cancelled.then(() => within(CANCEL_MS, turn, givenUp));
      const answer = await within(TURN_MS, Promise.race([turn, cut]), givenUp);
      if (typeof answer?.stopReason === "string") this.user.endTurn(answer.stopReason);
      else this.user.failTurn("the agent does not say how the turn ended");
    } catch (error) {
      if (!(error instanceof acp.RequestError || error.message === givenUp)) throw error;
      this.user.failTurn(error.message);
    } finally {
      stops.forEach(clearTimeout);
      this.answerHeld();
    }
  }

  /** session/cancel, and every open permission answered so. */
  async stop() {
    if (this.cancelled) return;
    this.cancelled = true;
    await this.agent.notify(TO_AGENT.session.cancel, { sessionId: this.user.session });
    this.user.show("cancelled");
    this.whenCancelled();
    this.answerHeld();
  }

  answerHeld() {
    this.held.forEach((over) => over());
    this.held.clear();
  }

  /** Stay and read until nothing has come for a second. */
  async wait() {
    for (let heard = -1; heard !== this.heard; await sleep(1000)) heard = this.heard;
  }
}

/** What a promise gives in time. */
async function within(ms, promise, otherwise) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new CannotGoOn(otherwise)), ms)));
  return await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

const [agentCommand, prompt, cwd] = process.argv.slice(2);
// The command line is taken apart as a shell would: by the shell.
const child = spawn("/bin/sh", ["-c", `exec ${agentCommand}`], { stdio: ["pipe", "pipe", "inherit"] });
const gone = new Promise((resolve) => child.once("exit", resolve));
child.stdin.on("error", () => {}); // who writes hears of it from the stream
const client = new SdkClient(cwd);
try {
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  await client.app().connectWith(stream, (agent) => client.converse(agent, prompt));
} catch (error) {
  client.user.failTurn(error.message);
}
child.stdin.end();
const timer = setTimeout(() => child.kill(), EXIT_MS);
await gone;
clearTimeout(timer);
process.exit(client.user.exitCode);
