// Waits for a gate as a task with the TypeScript client 2 and its extension for tasks. The server is
// killed meanwhile, and started again; then the person is asked by way of the task.
//
//     node tasks.mjs BINARY WORKFLOWS
//
// The client itself has no words for tasks yet: its extension leaves the sending of them to the
// host, which is done here in the simplest way.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { reportOf } from './agent.mjs';
import { Http, MODERN, soon, byPerson, TOKEN } from './place.mjs';

const [binary, workflows] = process.argv.slice(2);
const about = { name: 'clients', version: '1' };
const capabilities = { elicitation: { form: {} } };

/** Sends one request as it is. */
const dispatchTo = endpoint => async request => {
  const { method, params } = request;
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN,
    authorization: `Bearer ${TOKEN}`,
    'mcp-method': method,
    'mcp-name': params.name ?? params.taskId,
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request });
  const response = await fetch(endpoint, { method: 'POST', headers, body });
  const { result, error } = await response.json();
  return error ? { kind: 'error', error } : { kind: 'result', result };
};

/** Has `work` done with a client that looks after tasks. */
async function connected(place, mode, onInputRequest, work) {
  const client = new Client(about, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(place.endpoint), byPerson));
  assert.equal(client.getNegotiatedProtocolVersion(), MODERN);
  const session = createTaskSessionFromClient(client, {
    endpointId: 'milepost',
    rawDispatch: dispatchTo(place.endpoint),
    v2RequestFraming: { protocolVersion: MODERN, clientInfo: about, clientCapabilities: capabilities },
    onInputRequest,
  });
  const done = async (name, values) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: values });
    assert(!isError, `${name} refused: ${JSON.stringify(structuredContent)}`);
    return structuredContent;
  };
  const result = await work(session, done);
  await session.close();
  await client.close();
  return result;
}

async function drive(mode) {
  const place = await Http.open(binary, workflows);
  try {
    const unexpected = () => assert.fail('the person was asked too early');
    const { run, reference } = await connected(place, mode, unexpected, async (session, done) => {
      const context = { target: 'staging' };
      const { run } = await done('start_workflow', { workflow_name: 'ROLLOUT', context });
      const waiting = await session.callTool('get_workflow_status', { instance_id: run, wait_seconds: 50 });
      assert.equal(waiting.kind, 'task');
      assert(waiting.handle.taskId.startsWith(`${run}@`));
      let reference;
      await waiting.handoff(it => { reference = it; });
      await writeFile(join(place.folder, 'rollout.md'), '# Rollout\n');
      await done('advance_workflow', reportOf(run)('Prepare'));
      const { outcome } = await (await session.resumeTask(reference)).settle();
      assert.equal(outcome.status, 'completed', JSON.stringify(outcome));
      assert.equal(outcome.result.structuredContent.current_step_name, 'Sign');

      await done('advance_workflow', reportOf(run)('Sign'));
      const gate = await session.callTool('get_workflow_status', { instance_id: run, wait_seconds: 50 });
      assert.equal(gate.kind, 'task');
      await gate.handoff(it => { reference = it; });
      return { run, reference };
    });
    await place.kill();
    await place.start();
    const asked = [];
    const person = request => {
      asked.push(request);
      return { action: 'accept', content: { answer: 'approve' } };
    };
    await connected(place, mode, person, async (session, done) => {
      const { outcome } = await (await session.resumeTask(reference)).settle();
      assert.equal(outcome.status, 'completed', JSON.stringify(outcome));
      assert.equal(outcome.result.structuredContent.status, 'RUNNING');
      assert.equal((await done('get_workflow_status', { instance_id: run })).current_step_name, 'Roll out');
    });
    assert.deepEqual(asked.map(it => it.kind), ['elicitation']);
  } finally {
    await place.close();
  }
  console.log(`typescript client 2, mode ${JSON.stringify(mode)}, http: a task outlived its server`);
}

for (const mode of ['auto', { pin: MODERN }]) await soon('tasks', () => drive(mode));
