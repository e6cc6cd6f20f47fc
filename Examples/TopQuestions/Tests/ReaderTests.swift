// SPDX-License-Identifier: MIT

#if !canImport(SwiftUI)
import Curlew
import CurlewSampleAPI
import Testing

@testable import TopQuestions

@Suite(.timeLimit(.minutes(1)))
@MainActor
struct ReaderTests {
    /// The text of the screen as soon as it is as expected, or as it is when that takes too long.
    private func text(of reader: Reader, until isExpected: (String) -> Bool) async -> String {
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let text = reader.lines(in: Size(columns: 80, rows: 24), turn: 0).map(\.text).joined(separator: "\n")
            if isExpected(text) || ContinuousClock.now > end { return text }
            await Task.yield()
        }
    }

    private func text(of reader: Reader, with part: String) async -> String {
        await text(of: reader) { $0.contains(part) }
    }

    @Test("Keys move, open and go back")
    func keys() async {
        let reader = Reader(client: .preview, tag: "swift", place: "here", outage: nil)
        reader.start()
        #expect(await text(of: reader, with: "▸ 1.2k").contains("Top questions about swift · here"))
        for key in [Key.down, .down, .down] { #expect(reader.press(key, page: 10)) }
        #expect(await text(of: reader, with: "▸   99").contains("▸   99"), "the last one stays selected")
        #expect(reader.press(.enter, page: 10))
        #expect(await text(of: reader, with: "数の配列").contains("deleted user"))
        #expect(reader.press(.escape, page: 10))
        #expect(reader.press(.home, page: 10))
        #expect(await text(of: reader, with: "▸ 1.2k").contains("▸ 1.2k"))
        #expect(!reader.press(.character("q"), page: 10))
        #expect(!reader.press(.interrupt, page: 10))
    }

    @Test("A picture that fails leaves the text, and says so")
    func picture() async {
        let reader = Reader(client: .preview, tag: nil, place: "here", outage: nil)
        reader.start()
        _ = await text(of: reader, with: "▸ 1.2k")
        _ = reader.press(.right, page: 10)
        #expect(await text(of: reader, with: "✗ This was not found.").contains("Both name a value."))
    }

    @Test("An outage fails one call, which keeps what was there, and trying again mends it")
    func outage() async throws {
        let service = try SampleAPI()
        defer { service.stop() }
        let outage = Outage()
        let client = APIClient(baseURL: try BaseURL(service.url), pipeline: [outage])
        let reader = Reader(client: client, tag: nil, place: service.url, outage: outage)
        let message = "✗ The service is not available right now."
        reader.start()
        _ = await text(of: reader, with: "▸ 1.3k")
        _ = reader.press(.character("f"), page: 10)
        #expect(await text(of: reader, with: "the next call fails").contains("the next call fails"))
        _ = reader.press(.character("r"), page: 10)
        let failed = await text(of: reader, with: message)
        #expect(failed.contains(message) && failed.contains("▸ 1.3k"))
        _ = reader.press(.character("r"), page: 10)
        let mended = await text(of: reader) { !$0.contains(message) && !$0.contains("Loading") }
        #expect(mended.contains("▸ 1.3k") && !mended.contains(message))
    }

    @Test("Leaving a question ends what is in progress for it")
    func leaving() async throws {
        let service = try SampleAPI()
        defer { service.stop() }
        let slow = APIClient(
            baseURL: try BaseURL(service.url),
            pipeline: [
                .onRequest { request, _ in
                    if request.target.contains("filter") { request.appendQuery("delay", "30000") }
                }
            ])
        let reader = Reader(client: slow, tag: nil, place: "here", outage: nil)
        reader.start()
        _ = await text(of: reader, with: "▸ 1.3k")
        _ = reader.press(.enter, page: 10)
        #expect(await text(of: reader, with: "Loading").contains("1.3k votes"), "what is known is shown meanwhile")
        _ = reader.press(.escape, page: 10)
        #expect(!reader.isLoading)
        #expect(await !text(of: reader, with: "▸ 1.3k").contains("✗"))
    }
}
#endif
