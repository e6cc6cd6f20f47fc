// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import ExampleSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The storyteller without a screen: a conversation in a terminal, otherwise the scenes of one. With `--slow` there is
/// time to read between two words.
@main @MainActor
struct Main {
    static func main() async {
        let report = Report()
        do {
            let isSlow = CommandLine.arguments.contains("--slow")
            let service = try StoryService(pause: .milliseconds(isSlow ? 200 : 15))
            defer { service.stop() }
            report.opening("Storyteller", "a language model that writes while you read", "service \(service.url)")
            if isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 {
                return try await Conversation(service).run()
            }
            try await Scenes(report, service).run()
        } catch {
            report.fail("an error that nothing handles: \(error)")
        }
        report.finish()
    }

    /// The client: its key goes with each call, as in any other client.
    static func client(of service: StoryService, key: String = StoryService.key) throws -> APIClient {
        APIClient(baseURL: try BaseURL(service.url), pipeline: .standard.adding(.bearer { key }))
    }
}

@MainActor
private struct Scenes {
    let report: Report
    let service: StoryService
    let story: Story

    init(_ report: Report, _ service: StoryService) throws {
        self.report = report
        self.service = service
        story = Story(client: try Main.client(of: service))
    }

    func run() async throws {
        await whole()
        await stopped()
        await failed()
        await broken()
        try await refused()
    }

    private var all: String { StoryService.words.joined(separator: " ") }

    private func whole() async {
        report.title("A story, as it is written")
        var pieces = 0
        var page = Typewriter(isLive: false)
        await story.tell(about: "a bird") { piece in
            pieces += 1
            let lines = page.add(piece)
            print(lines, terminator: "")
            if !lines.isEmpty { fflush(nil) }
        }
        print(page.end(), terminator: "")
        report.show("tokens", story.rate)
        report.expect(story.phase == .finished && story.text == all, "all of the story has arrived")
        report.expect(pieces == StoryService.words.count, "it has arrived in \(pieces) pieces, each as it was written")
        report.expect(story.tokensPerSecond ?? 0 > 0, "the service has counted its tokens")
        let outcome = await service.outcome()
        report.expect(outcome == .told(pieces), "the service has come to its end")
    }

    /// A person has read enough. The service need not write the rest.
    private func stopped() async {
        report.title("Stopped after ten words")
        let telling = Task {
            var words = 0
            await story.tell(about: "the sea") { _ in
                words += 1
                // The task cancels itself here. In an app a button does it, in a terminal Ctrl-C.
                if words == 10 { withUnsafeCurrentTask { $0?.cancel() } }
            }
            return words
        }
        let words = await telling.value
        report.line("\(story.text) …")
        report.expect(story.phase == .stopped && words == 10, "the text so far stays, and there is no error")
        if case .closedByClient(let sent)? = await service.outcome() {
            report.show("the service", "stopped after \(sent) of \(StoryService.words.count) words")
            report.expect(sent < StoryService.words.count, "the service saw that the connection was closed")
        } else {
            report.fail("the service did not see that the connection was closed")
        }
    }

    private func failed() async {
        report.title("An error inside the stream, and a second attempt")
        await service.plan(.error(after: 12))
        await story.tell(about: "a bird")
        report.line("\(story.text) …")
        if case .failed(let failure) = story.phase { report.says(failure.message) }
        report.expect(
            story.phase == .failed(.service("The model is overloaded. Try again.")),
            "the error of the service ends the story, after a status 200")
        _ = await service.outcome()
        await story.tellAgain()
        report.show("again", story.rate)
        report.expect(story.phase == .finished && story.text == all, "the second attempt is complete")
        _ = await service.outcome()
    }

    private func broken() async {
        report.title("A connection that breaks")
        await service.plan(.breakdown(after: 5))
        await story.tell(about: "a bird")
        if case .failed(.network(let error)) = story.phase {
            report.show(error)
            report.expect(story.text != all, "a story without its end marker is not taken for a complete one")
        } else {
            report.fail("a broken connection is an error")
        }
        let outcome = await service.outcome()
        report.expect(outcome == .broken(after: 5), "the call was not repeated: it was a POST")
    }

    private func refused() async throws {
        report.title("A key that is not valid")
        let story = Story(client: try Main.client(of: service, key: "another"))
        await story.tell(about: "a bird")
        if case .failed(.network(let error)) = story.phase {
            report.show("the service", error.problem?.detail ?? error.message)
            report.expect(error.statusCode == 401, "a refusal before the stream is an ordinary error of the call")
        } else {
            report.fail("the service takes any key")
        }
    }
}

extension Story {
    /// `77 tokens, 61.3 per second`.
    var rate: String {
        guard let usage else { return "not counted" }
        let tenths = Int(((tokensPerSecond ?? 0) * 10).rounded())
        return "\(usage.completionTokens) tokens, \(tenths / 10).\(tenths % 10) per second"
    }
}
#endif
