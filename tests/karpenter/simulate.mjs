// Reads IAM requests as JSON from standard input, asks iam-simulate about each, and writes what it answers.
// The only argument is the folder iam-simulate is installed in.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const { runSimulation, runUnsafeSimulation } = createRequire(join(process.argv[2], 'runner.cjs'))(
  '@cloud-copilot/iam-simulate'
)

async function answer({ unchecked, ...simulation }) {
  if (unchecked) return runUnsafeSimulation(simulation, {})
  const found = await runSimulation(simulation, {})
  if (found.resultType === 'error') return `not a request: ${JSON.stringify(found.errors)}`
  const ignored = (found.results ?? [found.result]).flatMap(each => each.ignoredContextKeys)
  return ignored.length ? `not keys of this request: ${ignored.join(', ')}` : found.overallResult
}

const answers = []
for (const simulation of JSON.parse(await text(process.stdin))) answers.push(await answer(simulation))
process.stdout.write(JSON.stringify(answers))
