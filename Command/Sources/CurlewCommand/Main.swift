// SPDX-License-Identifier: MIT

import Curlew
import Dispatch

/// The command `curlew`.
@main
enum Main {
    static func main() async {
        ProcessStreams.open()
        // A reader that closes a pipe is noticed by the failing write.
        signal(SIGPIPE, SIG_IGN)
        signal(SIGINT, SIG_IGN)
        // A parent may have blocked it, and a child inherits that.
        var interrupt = sigset_t()
        sigemptyset(&interrupt)
        sigaddset(&interrupt, SIGINT)
        pthread_sigmask(SIG_UNBLOCK, &interrupt, nil)
        let command = Task { await CommandLineTool.run(Array(CommandLine.arguments.dropFirst()), io: .process) }
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        interrupts.setEventHandler { @Sendable in
            // The second Ctrl-C does not wait.
            if command.isCancelled { exit(130) }
            command.cancel()
        }
        interrupts.resume()
        let code = await command.value
        withExtendedLifetime(interrupts) {}
        exit(code)
    }
}
