// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import Dispatch
import ExampleSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A conversation in a terminal: a subject, its story word by word, and the next one. Ctrl-C stops a story; between
/// stories it ends the program. The second story fails, so that there is something to try again.
@MainActor
final class Conversation {
    private let service: StoryService
    private let story: Story
    private var telling: Task<Void, Never>?
    /// Receives Ctrl-C while there is a story; nil if the system has no pipe left, and then Ctrl-C ends the program.
    private let interrupts: (any DispatchSourceRead)?

    init(_ service: StoryService) throws {
        self.service = service
        story = Story(client: try Main.client(of: service))
        guard interruptPipe.output >= 0 else {
            interrupts = nil
            return
        }
        let interrupts = DispatchSource.makeReadSource(fileDescriptor: interruptPipe.output, queue: .main)
        self.interrupts = interrupts
        interrupts.setEventHandler { [weak self] in
            var bytes = [UInt8](repeating: 0, count: 16)
            _ = read(interruptPipe.output, &bytes, bytes.count)
            MainActor.assumeIsolated { self?.telling?.cancel() }
        }
        interrupts.resume()
    }

    func run() async {
        print(Look.dim("Ctrl-C stops a story, an empty line ends the conversation."))
        var count = 0
        while let subject = ask("A story about"), !subject.isEmpty {
            count += 1
            if count == 2 { await service.plan(.error(after: 12)) }
            await show { [story] in await story.tell(about: subject, write: $0) }
            while case .failed = story.phase, let reply = ask("Again? [Y/n]"), reply.isEmpty || reply == "y" {
                await show { [story] in await story.tellAgain(write: $0) }
            }
        }
    }

    private func ask(_ question: String) -> String? {
        print("\n" + Look.bold(question) + " ", terminator: "")
        fflush(nil)
        return readLine()
    }

    /// Shows the story while it grows.
    private func show(_ tell: @escaping @MainActor (_ write: (String) -> Void) async -> Void) async {
        let telling = Task {
            var page = Typewriter(isLive: true)
            await tell { piece in
                print(page.add(piece), terminator: "")
                fflush(nil)
            }
            print(page.end(), terminator: "")
        }
        self.telling = telling
        if interrupts != nil { signal(SIGINT, passInterrupt) }
        await telling.value
        signal(SIGINT, SIG_DFL)
        switch story.phase {
        case .finished: print("    " + Look.dim(story.rate))
        case .stopped: print("    " + Look.yellow("stopped"))
        case .failed(let failure): print("    " + Look.red(failure.message))
        case .idle, .waiting, .writing: break
        }
    }
}

/// A handler of signals may do next to nothing: it passes the signal on, to be read as any other input.
private func passInterrupt(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(interruptPipe.input, &byte, 1)
    errno = before
}

/// The pipe from the handler of Ctrl-C to the conversation.
private let interruptPipe: (output: Int32, input: Int32) = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return (-1, -1) }
    // A full pipe must not hold up the handler.
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
}()
#endif
