//! TypeScript: what stands behind `export`, and modules by relative paths.

use insight::code::Language;

use super::{callers, defined, edges, summarised};

const SAMPLE: &str = "export function process(a: string): string;
export function process(a: number): number;
export function process(a: any): any { return a; }
function hidden() {}
export interface Shape { area(): number }
export type Name = string;
export declare function later(): void;
export class Circle implements Shape { area() { return 1; } }
export const arrow = (x: number) => x + 1;
export enum Colour { Red }
";

#[test]
fn what_is_exported_is_listed_by_kind() {
    assert_eq!(
        summarised("a.ts", SAMPLE),
        "## Functions

- `function process(a: string): string`
- `function process(a: number): number`
- `function process(a: any): any`
- `function later(): void`

## Types

- `interface Shape { area(): number }`
- `type Name = string`
"
    );
}

#[test]
fn several_definitions_are_counted_first() {
    assert_eq!(
        defined("a.ts", SAMPLE, "process"),
        "3 matches found\n\nfunction process(a: string): string;\n\n\
         function process(a: number): number;\n\nfunction process(a: any): any { return a; }"
    );
    assert_eq!(defined("a.ts", SAMPLE, "hidden"), "function hidden() {}");
    assert_eq!(defined("a.ts", SAMPLE, "area"), "area() { return 1; }");
    assert_eq!(defined("a.ts", SAMPLE, "arrow"), "const arrow = (x: number) => x + 1;");
    assert_eq!(defined("a.ts", SAMPLE, "Colour"), "enum Colour { Red }");
    assert_eq!(defined("a.ts", SAMPLE, "nothing"), "");
}

#[test]
fn elements_in_angle_brackets_are_read_where_the_ending_says_so() {
    let text = "export function View() { return <Button label='x' />; }\n";
    assert_eq!(summarised("a.tsx", text), "## Functions\n\n- `function View()`\n");
    let files = [
        ("button.tsx", "export function Button() { return null; }\n"),
        ("view.tsx", "import { Button } from './button';\nexport const v = () => <Button/>;\n"),
    ];
    assert_eq!(callers(Language::TypeScript, &files, "button.tsx", "Button"), ["view.tsx 1"]);
}

#[test]
fn relative_imports_lead_to_files_and_to_the_index_of_folders() {
    let files = [
        (
            "src/main.ts",
            "import a from './a';
import {
  b,
  type C,
} from \"./b.js\"
import './lib';
export * from './d';
export { e } from './e';
export type { F } from './f';
import g = require('./g');
const h = require('./h'), i = await import('./i');
import react from 'react';
import type { J } from '../j';
// import x from './x';
/**
 * import x from './x';
 */
export { a, b };
",
        ),
        ("src/a.ts", ""),
        ("src/b.ts", ""),
        ("src/lib/index.ts", ""),
        ("src/d.tsx", ""),
        ("src/e.d.ts", ""),
        ("src/f.ts", ""),
        ("src/g.ts", ""),
        ("src/h.ts", ""),
        ("src/i/index.tsx", "import '..';\n"),
        ("src/index.ts", ""),
        ("j.ts", "import '../../outside';\n"),
        ("src/x.ts", ""),
        ("react.ts", ""),
    ];
    let expected = [
        "src/i/index.tsx -> src/index.ts",
        "src/main.ts -> j.ts",
        "src/main.ts -> src/a.ts",
        "src/main.ts -> src/b.ts",
        "src/main.ts -> src/d.tsx",
        "src/main.ts -> src/e.d.ts",
        "src/main.ts -> src/f.ts",
        "src/main.ts -> src/g.ts",
        "src/main.ts -> src/h.ts",
        "src/main.ts -> src/i/index.tsx",
        "src/main.ts -> src/lib/index.ts",
    ];
    assert_eq!(edges(Language::TypeScript, &files), expected);
}

#[test]
fn a_caller_that_no_import_leads_from_comes_last_and_without_a_distance() {
    let files = [
        ("lib.ts", "export function run() {}\nrun();\n"),
        ("a.ts", "export function go(x: any) { x.run(); }\n"),
        ("b.ts", "import { run } from './lib';\nrun();\n"),
        ("c.ts", "import './b';\nnew run();\n"),
        ("d.ts", "const text = 'run()'; // run()\n"),
    ];
    let found = callers(Language::TypeScript, &files, "lib.ts", "run");
    assert_eq!(found, ["b.ts 1", "c.ts 2", "a.ts -"]);
}
