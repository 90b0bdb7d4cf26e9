// A client that checks every answer, and the workflows that it goes through.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MODERN } from './place.mjs';

const SEED_TOOLS = [
  'list_workflows', 'start_workflow', 'get_workflow_status', 'advance_workflow', 'resume_workflow',
];

/** Answers what the client shows, as the test says beforehand. */
export class Person {
  will = [];
  asked = [];

  says(action, answer) {
    this.will.push(answer ? { action, content: { answer } } : { action });
  }

  answer({ params }) {
    this.asked.push(params);
    assert(this.will.length > 0, `the person was asked unexpectedly: ${params.message}`);
    return this.will.shift();
  }
}

/** Waits for what the server says has changed. */
export class Updates {
  heard = [];
  waiting = [];

  put({ params }) {
    const next = this.waiting.shift();
    if (next) next(params.uri);
    else this.heard.push(params.uri);
  }

  next() {
    if (this.heard.length > 0) return this.heard.shift();
    return new Promise(resolve => this.waiting.push(resolve));
  }
}

/** A client that checks every answer on the way in. */
export class Agent {
  constructor(client, person, updates, version) {
    Object.assign(this, { client, person, updates, version });
  }

  listTools() {
    return this.client.listTools();
  }

  async ask(tool, values, onprogress) {
    const options = onprogress ? { onprogress } : {};
    const result = await this.call({ name: tool, arguments: values }, options);
    // What the server noticed besides comes in a block of its own.
    assert.ok(result.content.slice(1).every((it) => it.text.startsWith("Noticed:")));
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    return { isError: result.isError === true, value: result.structuredContent };
  }

  async done(tool, values = {}, onprogress) {
    const { isError, value } = await this.ask(tool, values, onprogress);
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

  async read(uri) {
    const { contents } = await this.client.readResource({ uri });
    assert.deepEqual(contents.map(it => it.uri), [uri]);
    return JSON.parse(contents[0].text);
  }

  /** Has `work` done while the client watches a resource. */
  async watching(uri, work) {
    if (this.version() === MODERN) {
      const subscription = await this.client.listen({ resourceSubscriptions: [uri] });
      assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, [uri]);
      await work();
      await subscription.close();
      return;
    }
    await this.client.subscribeResource({ uri });
    await work();
    await this.client.unsubscribeResource({ uri });
  }
}

export const reportOf = id => step => ({ instance_id: id, report: { step_id: step, status: 'success' } });

/** Refusals, an answer that the agent passes on, and one that a person gives elsewhere. */
export async function release(agent, place) {
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
  const report = reportOf(id);

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
  await writeFile(join(place.folder, 'notes.md'), '# Notes\n\n## Changes\n\n- All new.\n');
  const moved = await agent.done('advance_workflow', report('Write'));
  assert.equal(moved.next_step.step_name, 'Publish');

  // A gate that only a person can answer.
  waits = await agent.done('advance_workflow', report('Publish'));
  assert.equal(waits.waiting.answers, 'verified');
  await agent.refused('gate_needs_person', 'answer_gate', answer);
  const [woken] = await Promise.all([
    agent.done('get_workflow_status', { instance_id: id, wait_seconds: 30, after_seq: waits.seq }),
    place.approve(waits.run),
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

/** Everything beside the tools, and gates that the client itself puts to the person. */
export async function rollout(agent, place) {
  const { client, person, updates } = agent;
  const { prompts } = await client.listPrompts();
  const wanted = prompts.find(it => it.name === 'ROLLOUT').arguments.map(it => [it.name, it.required]);
  assert.deepEqual(Object.fromEntries(wanted), { target: true, version: false });
  const said = await client.getPrompt({ name: 'ROLLOUT', arguments: { target: 'staging' } });
  assert.equal(said.messages.length, 1);
  assert(said.messages[0].content.text.includes('"target":"staging"'));
  const typed = { ref: { type: 'ref/prompt', name: 'ROLLOUT' }, argument: { name: 'target', value: 'pro' } };
  assert.deepEqual((await client.complete(typed)).completion.values, ['production']);
  const step = { type: 'ref/resource', uri: 'milepost://workflows/{workflow}/steps/{step}' };
  const beside = { arguments: { workflow: 'ROLLOUT' } };
  const steps = await client.complete({ ref: step, argument: { name: 'step', value: 'r' }, context: beside });
  assert.deepEqual(steps.completion.values, ['Roll out']);

  const context = { target: 'staging' };
  const { run } = await agent.done('start_workflow', { workflow_name: 'ROLLOUT', context });
  const report = reportOf(run);
  const uri = `milepost://runs/${run}`;
  const { resourceTemplates } = await client.listResourceTemplates();
  assert(resourceTemplates.some(it => it.uriTemplate === 'milepost://runs/{run}'));
  const ref = { type: 'ref/resource', uri: 'milepost://runs/{run}' };
  const runs = await client.complete({ ref, argument: { name: 'run', value: run.slice(0, 6) } });
  assert(runs.completion.values.includes(run));
  assert((await client.listResources()).resources.some(it => it.uri === uri));
  assert.deepEqual(await agent.read(uri), await agent.done('get_workflow_status', { instance_id: run }));

  await writeFile(join(place.folder, 'rollout.md'), '# Rollout\n\nBack with one command.\n');
  assert.equal((await agent.done('advance_workflow', report('Prepare'))).next_step.step_name, 'Sign');
  let waits = await agent.done('advance_workflow', report('Sign'));
  assert.equal(waits.status, 'SUSPENDED');
  assert.equal(waits.waiting.answers, 'verified');

  // A person who declines, or looks away, has not answered: the gate stays open.
  for (const [times, action] of ['decline', 'cancel'].entries()) {
    person.says(action);
    const silent = await agent.done('answer_gate', { instance_id: run });
    assert.equal(silent.status, 'SUSPENDED');
    assert(JSON.stringify(silent.warnings).includes('the gate stays open'));
    assert.equal(person.asked.length, times + 1);
  }
  assert(person.asked[0].message.includes('staging') && person.asked[0].message.includes('rollout.md'));
  assert.equal((await agent.read(uri)).status, 'SUSPENDED');
  person.says('accept', 'approve');
  const moved = await agent.done('answer_gate', { instance_id: run });
  assert.equal(moved.status, 'RUNNING');
  assert.equal(moved.next_step.step_name, 'Roll out');
  const history = await agent.read(`${uri}/history`);
  assert.equal(history.events.filter(it => it.kind === 'GateAnswered').length, 1);

  // A wait that tells how it goes, and news that another process makes.
  waits = await agent.done('advance_workflow', report('Roll out'));
  assert.equal(waits.status, 'SUSPENDED');
  const told = [];
  let woken;
  await agent.watching(uri, async () => {
    let tell;
    const isTold = new Promise(resolve => { tell = resolve; });
    const wait = { instance_id: run, wait_seconds: 50, after_seq: waits.seq };
    const waiting = agent.done('get_workflow_status', wait, it => {
      told.push(it.progress);
      tell();
    });
    await isTold;
    await place.approve(run);
    assert.equal(await updates.next(), uri);
    woken = await waiting;
  });
  assert(told.every((it, place) => place === 0 || told[place - 1] < it), `progress goes back: ${told}`);
  assert.equal(woken.status, 'COMPLETED');
  assert.equal((await agent.read(uri)).status, 'COMPLETED');
}
