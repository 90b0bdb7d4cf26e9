// What a client does with the toolset `devworkflow`: a short piece of work by the state file, and a
// short walk through a graph.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const SETTINGS = { MILEPOST_MCP_TOOLSETS: 'devworkflow' };
const TASK = 'Add: login';
const STEPS = ['start', 'analyze', 'plan', 'execute', 'review', 'complete'];

/** Calls a classic tool, and compares what it says with the file. */
async function ask(agent, place, tool, values = {}) {
  const name = `${tool}_guidance`;
  const result = await agent.call({ name, arguments: values });
  const value = result.structuredContent;
  assert.deepEqual(result.content.map(it => it.text), [value.result]);
  assert.equal(value.tool, name);
  assert.equal(result.isError === true, 'refusal' in value, value.result);
  const text = await readFile(join(place.folder, 'workflow_state.md'), 'utf8');
  for (const [field, key] of [['Phase', 'phase'], ['Status', 'status'], ['CurrentItem', 'current_item']]) {
    const [, stands] = text.match(new RegExp(`^${field}: (.*?) *$`, 'm'));
    assert.equal(stands, String(value[key]), `${name}: ${field}`);
  }
  return { isError: result.isError === true, value, text };
}

async function stands(agent, place, phase, status, tool, values) {
  const { isError, value, text } = await ask(agent, place, tool, { task_description: TASK, ...values });
  assert(!isError, value.result);
  assert.deepEqual([value.phase, value.status], [phase, status]);
  return { value, text };
}

/** An item and a graph, each no more than begun. */
export async function begin(agent, place) {
  await stands(agent, place, 'INIT', 'READY', 'init_workflow');
  await startGraph(agent);
}

/** One item through all phases. */
export async function byFile(agent, place) {
  const at = (...rest) => stands(agent, place, ...rest);
  const { value } = await at('INIT', 'READY', 'init_workflow');
  assert.deepEqual(value.next.map(it => it.tool), ['analyze_phase_guidance']);
  await at('ANALYZE', 'RUNNING', 'analyze_phase');
  const refused = await ask(agent, place, 'construct_phase', { task_description: TASK });
  assert(refused.isError);
  assert.equal(refused.value.error_code, 'ILLEGAL_TRANSITION');
  await at('BLUEPRINT', 'RUNNING', 'blueprint_phase', { requirements_summary: 'people sign in' });
  const plan = { phase: 'BLUEPRINT', status: 'NEEDS_PLAN_APPROVAL', plan: '1. write `login.rs`' };
  const { isError, text } = await ask(agent, place, 'update_workflow_state', plan);
  assert(!isError && text.includes(`## Plan\n${plan.plan}\n`), text);
  await at('CONSTRUCT', 'RUNNING', 'construct_phase', { user_approval: true });
  await at('VALIDATE', 'RUNNING', 'validate_phase');
  const ended = await at('VALIDATE', 'COMPLETED', 'complete_workflow', { summary: 'People can sign in.' });
  assert(ended.text.includes('| 1 | Add: login | completed |'), ended.text);
  const config = await readFile(join(place.folder, 'project_config.md'), 'utf8');
  assert(config.includes('## Changelog\n- People can sign in.\n'), config);
}

/** Starts a graph that comes with the program, and returns the id of the session. */
async function startGraph(agent) {
  const about = { task_description: TASK };
  const found = await agent.done('workflow_discovery', about);
  assert.deepEqual(found.available_workflows['Simple Linear Workflow'].node_names, STEPS);
  const start = { ...about, action: 'start', context: 'workflow: Simple Linear Workflow' };
  return (await agent.done('workflow_guidance', start)).session_id;
}

/** A graph from its first node to its last. */
export async function byGraph(agent) {
  const id = await startGraph(agent);
  for (const step of STEPS.slice(1)) {
    const choice = { task_description: TASK, session_id: id, context: `choose: ${step}` };
    const moved = await agent.done('workflow_guidance', choice);
    assert(moved.content.includes(`✅ **Transitioned to:** ${step.toUpperCase()}`), moved.content);
  }
  const state = await agent.done('workflow_state', { operation: 'get', session_id: id });
  assert(state.content.includes('**Current Node:** complete'), state.content);
}
