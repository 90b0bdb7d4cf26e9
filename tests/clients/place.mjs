// A project of its own, and a way to a server for it.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const run = promisify(execFile);
export const MODERN = '2026-07-28';
/** A token with the scope `approve`: it shows that a client is one that a person runs. */
export const TOKEN = 'a-token-that-approves-for-tests';
/** What a transport over HTTP is made with. */
export const byPerson = { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } };
/** How long anything may take before the test gives up, in milliseconds. */
const PATIENCE = 30_000;

/** Every client starts a server for itself. */
export class Stdio {
  static async open(binary, workflows, settings = {}) {
    const place = new this();
    place.binary = binary;
    place.folder = await mkdtemp(join(tmpdir(), 'clients-'));
    place.environment = {
      PATH: process.env.PATH,
      HOME: place.folder,
      WORKFLOW_DEFINITIONS_DIR: workflows,
      LOG_LEVEL: 'warn',
      ...settings,
    };
    await place.knowPerson();
    await place.start();
    return place;
  }

  async start() {}

  async kill() {}

  /** Makes the token of a person known who acts where there is no terminal. */
  async knowPerson() {
    const digest = createHash('sha256').update(TOKEN).digest('hex');
    const tokens = join(this.folder, '.local/state/milepost/tokens');
    await mkdir(tokens, { recursive: true });
    const record = { version: 1, name: 'tests', scope: 'approve', at: 'today' };
    await writeFile(join(tokens, `${digest}.json`), JSON.stringify(record));
  }

  /** Has a person approve by their token: in another process than the server's. */
  async approve(id) {
    const env = { ...this.environment, MILEPOST_APPROVE_TOKEN: TOKEN };
    await run(this.binary, ['gate', 'approve', '--yes', id], { cwd: this.folder, env });
  }

  async close() {
    await this.kill();
    await rm(this.folder, { recursive: true });
  }
}

/** One server for all clients. Killed and started again, it is found where it was. */
export class Http extends Stdio {
  address = '127.0.0.1:0';

  async start() {
    this.server = spawn(this.binary, ['serve', '--json', '--address', this.address], {
      cwd: this.folder, env: this.environment, stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(createInterface(this.server.stdout), 'line');
    const said = JSON.parse(line);
    this.address = said.address.replace('http://', '');
    this.endpoint = said.mcp;
  }

  async kill() {
    const ended = once(this.server, 'exit');
    assert(this.server.kill('SIGKILL'));
    await ended;
  }
}

/** Has something done, or gives it up. */
export async function soon(label, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${label}: took too long`)), PATIENCE);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
