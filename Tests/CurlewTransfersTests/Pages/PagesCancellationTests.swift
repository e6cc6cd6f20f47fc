// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PagesCancellationTests {
    @Test("A cancelled task ends the items between two of them")
    func betweenItems() async throws {
        let client = ListServer(count: 1000).client
        let task = Task {
            var count = 0
            do throws(NetworkError) {
                var iterator = client.pages(.list, next: .link).items.makeAsyncIterator()
                while try await iterator.next() != nil {
                    count += 1
                    if count == 15 { withUnsafeCurrentTask { $0?.cancel() } }
                }
                return (count, false)
            } catch {
                return (count, error.isCancelled)
            }
        }
        let (count, isCancelled) = await task.value
        #expect(count == 15 && isCancelled)
    }

    @Test("Cancellation while a page is awaited ends its call")
    func duringCall() async throws {
        let transport = RecordingTransport { request, _ in
            if request.target.utf8.contains(UInt8(ascii: "=")) { try await waitForCancellation() }
            var response = HTTPResponse.answer("[1]")
            response.url = request.urlString
            response.headers.append(.link, "<?page=2>; rel=next")
            return response
        }
        let client = APIClient.testing(transport)
        let task = Task {
            await failure { () async throws(NetworkError) in
                var iterator = client.pages(.list, next: .link).makeAsyncIterator()
                while try await iterator.next() != nil {}
            }
        }
        try await yieldUntil { transport.requests.count == 2 }
        task.cancel()
        #expect(await task.value?.isCancelled == true)
    }

    @Test("Two tasks iterate independently")
    func concurrently() async throws {
        let pages = ListServer(count: 95).client.pages(.list, next: .link).items
        async let left = pages.reduce(0, +)
        async let right = pages.reduce(0, +)
        #expect(try await (left, right) == (4465, 4465))
    }

    @Test("Of 1,000 pages of 100 items only the page in use is kept")
    func memory() async throws {
        let live = LiveCount()
        let client = APIClient.testing(ManyPages())
        let list = Request<[Int]>.get("/list").map { CountedPage($0, live) }
        var sizes: [Int] = []
        var count = 0
        for try await item in client.pages(list, next: .link).items(\.items) {
            #expect(item == count && live.now <= 3)
            count += 1
            if count == 20_000 || count == 100_000 { sizes.append(Self.residentKilobytes()) }
        }
        #expect(count == 100_000)
        // Other tests use memory of the process too, so this is information.
        print("from page 200 to page 1,000, the process grew by \((sizes.last ?? 0) - (sizes.first ?? 0)) KiB")
    }

    /// The resident memory of the process; 0 where it cannot be read.
    private static func residentKilobytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4 : 0
    }
}

/// A transport with 1,000 pages of 100 items, which keeps nothing.
private final class ManyPages: Transport {
    let count = Locked(0)

    func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal { .anonymous }

    func send(_ request: HTTPRequest, in context: ExchangeContext) async throws -> HTTPResponse {
        let page = count.next()
        let items = ((page - 1) * 100..<page * 100).map { "\($0)" }.joined(separator: ",")
        var response = HTTPResponse.answer("[\(items)]")
        response.url = request.urlString
        if page < 1000 { response.headers.append(.link, "<?page=\(page + 1)>; rel=next") }
        return response
    }
}

private final class LiveCount: Sendable {
    private let count = Locked(0)
    var now: Int { count.withLock { $0 } }
    func add(_ change: Int) { count.withLock { $0 += change } }
}

/// A page that tells how many of its kind exist.
private final class CountedPage: Sendable {
    let items: [Int]
    private let live: LiveCount

    init(_ items: [Int], _ live: LiveCount) {
        self.items = items
        self.live = live
        live.add(1)
    }

    deinit { live.add(-1) }
}
