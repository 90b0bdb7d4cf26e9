// Looks at everything with the Inspector's command line: in both eras of the protocol, over standard
// input and output and over HTTP. Over the former it also works a whole run.
//
//     node inspect.mjs BINARY WORKFLOWS
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Agent, release } from './agent.mjs';
import { SETTINGS, begin } from './guided.mjs';
import { Http, Stdio, run } from './place.mjs';

const [binary, workflows] = process.argv.slice(2);
const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const launcher = join(dirname(main), 'clients/launcher/build/index.js');

/** Starts the Inspector anew for each call; over standard input and output the server with it. */
class Inspector extends Agent {
  constructor(place, era) {
    super();
    const { folder, environment, endpoint } = place;
    const variables = Object.entries(environment).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const target = endpoint ? [endpoint] : [binary, 'mcp', ...variables, '--cwd', folder];
    this.begin = [launcher, '--cli', ...target, '--protocol-era', era];
    this.options = { cwd: folder, env: environment, maxBuffer: 1 << 24 };
  }

  /** Returns what it printed. It must end well, unless a tool refused: the answer is there then. */
  async invoke(method, ...rest) {
    const finished = run(process.execPath, [...this.begin, '--method', method, ...rest], this.options);
    const mayRefuse = error => (method === 'tools/call' && error.stdout ? error : Promise.reject(error));
    return finished.catch(mayRefuse);
  }

  async result(method, ...rest) {
    const { stdout } = await this.invoke(method, '-q', '--format', 'json', ...rest);
    return JSON.parse(stdout).result;
  }

  call({ name, arguments: values }) {
    return this.result('tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(values));
  }

  /** Lists the tools; not one of their schemas may be remarked on. */
  async listTools() {
    const { stdout, stderr } = await this.invoke('tools/list', '--strict', '--format', 'json');
    assert.equal(remarks(stderr), '');
    return JSON.parse(stdout).result;
  }
}

/** What the Inspector itself said, without what the server logged. */
function remarks(stderr) {
  return stderr.split('\n').filter(it => it !== '' && !it.startsWith('{"timestamp"')).join('\n');
}

/** Looks at all that a server shows. */
async function look(inspector) {
  const { tools } = await inspector.listTools();
  assert(tools.length > 0);
  const { stdout } = await inspector.invoke('tools/call', '--tool-name', 'get_workflow_status', '--advertise-apps', '--app-info');
  const app = JSON.parse(stdout);
  assert.deepEqual([app.hasApp, app.resourceUri], [true, 'ui://milepost/run.html']);
  assert.equal(app.resourceMimeType, 'text/html;profile=mcp-app');

  const { prompts } = await inspector.result('prompts/list');
  assert(prompts.some(it => it.name === 'ROLLOUT' && it.description));
  const said = await inspector.result('prompts/get', '--prompt-name', 'ROLLOUT', '--prompt-args', 'target=staging');
  assert(said.messages[0].content.text.includes('"target":"staging"'));

  const context = { target: 'staging' };
  const { run } = await inspector.done('start_workflow', { workflow_name: 'ROLLOUT', context });
  const { resources } = await inspector.result('resources/list');
  assert(resources.some(it => it.uri === `milepost://runs/${run}`));
  const { resourceTemplates } = await inspector.result('resources/templates/list');
  assert(resourceTemplates.some(it => it.uriTemplate === 'milepost://runs/{run}'));
  const read = async uri => JSON.parse((await inspector.result('resources/read', '--uri', uri)).contents[0].text);
  const workflow = await read('milepost://workflows/ROLLOUT');
  assert.deepEqual(workflow.steps.map(it => it.name), ['Prepare', 'Sign', 'Roll out']);
  const status = await read(`milepost://runs/${run}`);
  assert.deepEqual([status.run, status.status], [run, 'RUNNING']);
}

async function drive(Kind, era) {
  const place = await Kind.open(binary, workflows);
  try {
    const inspector = new Inspector(place, era);
    await look(inspector);
    if (Kind === Stdio) await release(inspector, place);
  } finally {
    await place.close();
  }
  const done = Kind === Stdio ? 'all looked at, and a whole run' : 'all looked at';
  console.log(`inspector, ${Kind.name.toLowerCase()}, era ${era}: ${done}`);
}

/** Looks at the toolset `devworkflow`, and calls a tool of either kind. */
async function guide(era) {
  const place = await Stdio.open(binary, workflows, SETTINGS);
  try {
    const inspector = new Inspector(place, era);
    const names = (await inspector.listTools()).tools.map(it => it.name);
    for (const name of ['init_workflow_guidance', 'workflow_guidance']) assert(names.includes(name));
    await begin(inspector, place);
  } finally {
    await place.close();
  }
  console.log(`inspector, devworkflow, era ${era}: the tools, an item and a graph begun`);
}

// The eras side by side: most of the time goes into starting the Inspector.
const eras = ['legacy', 'auto', 'modern'];
for (const Kind of [Stdio, Http]) {
  await Promise.all(eras.map(era => drive(Kind, era)));
}
await Promise.all(eras.map(guide));
