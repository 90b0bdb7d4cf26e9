// Counts what the suite has checked, and fails unless every scenario ran and every check passed.
//
//     node judge.mjs LABEL SCENARIOS FOLDER SECONDS
//
// A check that the suite itself skipped is no failure; how many there were is said.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [label, expected, folder, seconds] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true }).filter(it => it.endsWith('checks.json'));
const counts = { SUCCESS: 0, FAILURE: 0, WARNING: 0, SKIPPED: 0, INFO: 0 };
const problems = [];
for (const file of files) {
  const checks = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  if (checks.length === 0) problems.push(`${file}: nothing was checked`);
  for (const check of checks) {
    counts[check.status] = (counts[check.status] ?? 0) + 1;
    if (['SUCCESS', 'SKIPPED', 'INFO'].includes(check.status)) continue;
    problems.push(`${file}: ${check.id}: ${check.status}: ${check.errorMessage ?? check.description}`);
  }
}
if (files.length !== Number(expected)) problems.push(`${expected} scenarios were to run`);
const { SUCCESS, FAILURE, WARNING, SKIPPED } = counts;
console.log(
  `${label}: ${files.length} scenarios, ${SUCCESS} checks passed, ${FAILURE} failed, ` +
    `${WARNING} warnings, ${SKIPPED} skipped by the suite, ${seconds} s`,
);
for (const problem of problems) console.log(`  ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);
