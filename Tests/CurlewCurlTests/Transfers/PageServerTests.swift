// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

/// Lists of 1,000 pages from Python's HTTP server, over real connections.
@Suite(.timeLimit(.minutes(2)))
struct PageServerTests {
    struct List: Decodable, Sendable {
        var items: [Int]
        var next: String?
    }

    private static let pages = 1000

    /// Asks a new server for all items. Returns them, and the number of pages.
    private func items(
        _ path: RequestPath, _ next: Pages<List>.Next
    ) async throws -> ([Int], pages: Int) {
        let server = try await ScriptServer.start("pageserver.py", ["\(Self.pages)", "100"])
        let client = APIClient.curl(server.url, .standard)
        var (found, count) = ([Int](), 0)
        var iterator = client.pages(Request<List>.get(path), next: next).makeAsyncIterator()
        while let page = try await iterator.next() {
            found += page.value.items
            count += 1
        }
        return (found, count)
    }

    @Test("Link fields in nine spellings, with relative, absolute and quoted parts, are followed")
    func links() async throws {
        let (found, count) = try await items("/links/0", .link)
        #expect(count == Self.pages && found == Array(0..<Self.pages * 100))
    }

    @Test("A cursor with characters that a URL must encode is sent")
    func cursor() async throws {
        let (found, count) = try await items("/cursor", .cursor(\.next, in: "after"))
        #expect(count == Self.pages && found == Array(0..<Self.pages * 100))
    }

    @Test("A list by offset ends at the empty page after a full last one")
    func offset() async throws {
        let (found, count) = try await items("/offset", .offset(limit: 100, items: \.items))
        #expect(count == Self.pages + 1 && found == Array(0..<Self.pages * 100))
    }
}
