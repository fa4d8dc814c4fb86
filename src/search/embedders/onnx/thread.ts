/** The worker thread of onnx.ts. It ends with the process, or when nobody has asked for a while. */
import { serveCommands } from '../../../runtime/worker-thread.ts'
import { type ModelCommands, runModelCommand } from './model.ts'

serveCommands((kind, asked) => runModelCommand(kind as keyof ModelCommands, asked as never))
