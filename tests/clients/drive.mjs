// Works a whole workflow from start to end with both TypeScript SDKs and with the Inspector's
// command line, in every era of the protocol.
//
//     node drive.mjs BINARY WORKFLOWS
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';

const run = promisify(execFile);
const [binary, workflows] = process.argv.slice(2);
const SEED_TOOLS = [
  'list_workflows', 'start_workflow', 'get_workflow_status', 'advance_workflow', 'resume_workflow',
];

/** A client that checks every answer on the way in. */
class Agent {
  constructor(callTool, listTools) {
    this.callTool = callTool;
    this.listTools = listTools;
  }

  async ask(tool, values) {
    const result = await this.callTool(tool, values);
    assert.equal(result.content.length, 1);
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    return { isError: result.isError === true, value: result.structuredContent };
  }

  async done(tool, values = {}) {
    const { isError, value } = await this.ask(tool, values);
    assert(!isError, `${tool} refused: ${JSON.stringify(value)}`);
    return value;
  }

  async refused(code, tool, values) {
    const { isError, value } = await this.ask(tool, values);
    assert(isError, `${tool} did not refuse: ${JSON.stringify(value)}`);
    assert.equal(value.refusal.code, code, JSON.stringify(value));
    assert(value.refusal.message && value.refusal.hint);
    return value;
  }
}

async function work(agent, folder, environment) {
  const names = (await agent.listTools()).tools.map(it => it.name);
  for (const name of SEED_TOOLS) assert(names.includes(name), `${name} is not in ${names}`);
  assert(names.length <= 12);
  const listed = await agent.done('list_workflows');
  assert(listed.workflows.some(it => it.name === 'RELEASE'));
  const refusal = await agent.refused('workflow_unknown', 'start_workflow', { workflow_name: 'NOPE' });
  assert(refusal.error.startsWith("Failed to start workflow 'NOPE':"));

  const start = { workflow_name: 'RELEASE', context: { release: '1.0' }, request_id: 'first' };
  const begun = await agent.done('start_workflow', start);
  assert.deepEqual(await agent.done('start_workflow', start), begun);
  assert.equal(begun.next_step.step_name, 'Plan');
  assert.deepEqual(begun.current_context, { release: '1.0' });
  const id = begun.instance_id;
  const report = step => ({ instance_id: id, report: { step_id: step, status: 'success' } });

  // A gate that takes what the agent passes on.
  let waits = await agent.done('advance_workflow', report('Plan'));
  assert.equal(waits.status, 'SUSPENDED');
  assert.equal(waits.next_step, null);
  assert.equal(waits.waiting.answers, 'relayed');
  await agent.refused('gate_open', 'advance_workflow', report('Plan'));
  const answer = { instance_id: id, answer: 'approve', person: 'ann' };
  assert.equal((await agent.done('answer_gate', answer)).status, 'RUNNING');

  // An artifact that the server looks for itself.
  await agent.refused('artifact_missing', 'advance_workflow', report('Write'));
  await writeFile(join(folder, 'notes.md'), '# Notes\n\n## Changes\n\n- All new.\n');
  const moved = await agent.done('advance_workflow', report('Write'));
  assert.equal(moved.next_step.step_name, 'Publish');

  // A gate that only a person can answer.
  waits = await agent.done('advance_workflow', report('Publish'));
  assert.equal(waits.waiting.answers, 'verified');
  await agent.refused('gate_needs_person', 'answer_gate', answer);
  const [woken] = await Promise.all([
    agent.done('get_workflow_status', { instance_id: id, wait_seconds: 30, after_seq: waits.seq }),
    run(binary, ['gate', 'approve', '--yes', waits.run], { cwd: folder, env: environment }),
  ]);
  assert.equal(woken.status, 'RUNNING');
  assert.equal(woken.current_step_name, 'Announce');

  const ended = await agent.done('advance_workflow', report('Announce'));
  assert.equal(ended.status, 'COMPLETED');
  assert.equal(ended.next_step.step_name, 'FINISH');
  const status = await agent.done('get_workflow_status', { instance_id: id, include_history: true });
  assert.equal(status.history.filter(it => it.kind === 'GateAnswered').length, 2);
  await agent.done('record_entry', { instance_id: id, type: 'note', text: 'It went surprisingly well.' });
  const found = await agent.done('search_history', { query: 'surprisingly' });
  assert.deepEqual(found.hits.map(it => it.instance_id), [id]);
}

/** Has `connect` make an agent for a new folder, and has that agent work in it. */
async function drive(label, connect) {
  const folder = await mkdtemp(join(tmpdir(), 'clients-'));
  const environment = {
    PATH: process.env.PATH, HOME: folder, WORKFLOW_DEFINITIONS_DIR: workflows, LOG_LEVEL: 'warn',
  };
  const { agent, close, version } = await connect(folder, environment);
  await work(agent, folder, environment);
  console.log(`${label}: a whole run${version()}`);
  await close();
  await rm(folder, { recursive: true });
}

/** Connects a client of either SDK. */
async function connect(client, Stdio, cwd, env) {
  const transport = new Stdio({ command: binary, args: ['mcp'], cwd, env });
  let agreed = 'unknown';
  transport.setProtocolVersion = version => { agreed = version; };
  await client.connect(transport);
  return {
    agent: new Agent((name, values) => client.callTool({ name, arguments: values }), () => client.listTools()),
    close: () => client.close(),
    version: () => ` in revision ${client.getNegotiatedProtocolVersion?.() ?? agreed}`,
  };
}

/** Makes an agent that starts the Inspector, and with it the server, anew for each call. */
function inspector(era, cwd, env) {
  const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
  const launcher = join(dirname(main), 'clients/launcher/build/index.js');
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const invoke = async (...rest) => {
    const options = ['--cli', binary, 'mcp', ...variables, '--cwd', cwd, '--protocol-era', era, '-q', '--format', 'json'];
    const finished = run(process.execPath, [launcher, ...options, ...rest], { cwd, env, maxBuffer: 1 << 24 });
    // A refusal is told by the exit code too; the answer is on standard output all the same.
    const { stdout } = await finished.catch(error => (error.stdout ? error : Promise.reject(error)));
    return JSON.parse(stdout).result;
  };
  const callTool = (name, values) =>
    invoke('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(values));
  const listTools = () => invoke('--method', 'tools/list', '--strict');
  return { agent: new Agent(callTool, listTools), close: async () => {}, version: () => '' };
}

const about = { name: 'clients', version: '1' };
await drive('typescript sdk 1', (cwd, env) => connect(new ClientV1(about), StdioV1, cwd, env));
for (const mode of ['auto', 'legacy', { pin: '2026-07-28' }]) {
  const options = { versionNegotiation: { mode } };
  const label = `typescript client 2, mode ${JSON.stringify(mode)}`;
  await drive(label, (cwd, env) => connect(new ClientV2(about, options), StdioV2, cwd, env));
}
for (const era of ['legacy', 'auto', 'modern']) {
  await drive(`inspector, era ${era}`, async (cwd, env) => inspector(era, cwd, env));
}
