// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import Dispatch
import ExampleSupport
import StorytellerModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A conversation in a terminal: a subject, its story word by word, and the next one. Ctrl-C stops a story; between
/// stories it ends the program. The second story fails, so that there is something to try again.
@MainActor
struct Conversation {
    private let service: StoryService
    private let story: Story

    init(_ service: StoryService) throws {
        self.service = service
        story = Story(client: try Main.client(of: service))
    }

    func run() async {
        print(Look.dim("Ctrl-C stops a story, an empty line ends the conversation."))
        var count = 0
        while let subject = ask("A story about"), !subject.isEmpty {
            count += 1
            if count == 2 { await service.plan(.error(after: 12)) }
            await show { await story.tell(about: subject, write: $0) }
            while case .failed = story.phase, let reply = ask("Again? [Y/n]"), reply.isEmpty || reply == "y" {
                await show { await story.tellAgain(write: $0) }
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
        let interrupts = onInterrupt { telling.cancel() }
        await telling.value
        interrupts.cancel()
        signal(SIGINT, SIG_DFL)
        switch story.phase {
        case .finished: print("    " + Look.dim(story.rate))
        case .stopped: print("    " + Look.yellow("stopped"))
        case .failed(let failure): print("    " + Look.red(failure.message))
        case .idle, .waiting, .writing: break
        }
    }

    private func onInterrupt(_ handle: @escaping @MainActor () -> Void) -> any DispatchSourceSignal {
        signal(SIGINT, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
        source.setEventHandler { MainActor.assumeIsolated(handle) }
        source.resume()
        return source
    }
}
#endif
