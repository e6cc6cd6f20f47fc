// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCaching
@testable import CurlewCookies
@testable import CurlewCore

@Suite(.timeLimit(.minutes(1)))
struct StoredResponseTests {
    private static func random(_ random: inout SeededGenerator) -> HTTPCache.Entry {
        var headers = HTTPHeaders()
        for _ in 0..<Int.random(in: 0...5, using: &random) {
            headers.appendUnchecked(HTTPField(name: .init(random.text(upTo: 10)), value: random.text(upTo: 40)))
        }
        var response = HTTPCache.Entry(
            key: HTTPCache.Entry.Key(
                target: random.text(upTo: 30), content: Bool.random(using: &random) ? nil : random.text(upTo: 10),
                principal: Bool.random(using: &random) ? nil : random.text(upTo: 10)),
            status: HTTPStatus(Int.random(in: -10...999, using: &random)), headers: headers,
            version: .http2,
            requestTime: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)),
            responseTime: Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random)),
            tags: [random.text(upTo: 5), ""])
        response.variant = random.text(upTo: 20)
        response.bodyLength = .random(in: 0 ... .max, using: &random)
        return response
    }

    @Test(arguments: 1...50)
    func anyHeadComesBackFromItsBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let response = Self.random(&random)
        #expect(HTTPCache.Entry(encoded: response.encoded) == response, "seed \(seed)")
    }

    /// Every prefix and every changed byte gives nil or a head, and never a trap or a large allocation.
    @Test(arguments: 1...20)
    func damagedBytesAreNoTrap(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bytes = Self.random(&random).encoded
        for count in 0..<bytes.count {
            #expect(HTTPCache.Entry(encoded: bytes.prefix(count)) == nil, "seed \(seed), \(count) bytes")
        }
        #expect(HTTPCache.Entry(encoded: bytes + [0]) == nil, "seed \(seed)")
        for _ in 0..<500 {
            var damaged = bytes
            damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = HTTPCache.Entry(encoded: damaged)
            _ = HTTPCache.Entry(encoded: Data(random.bytes(upTo: 200)))
        }
    }

    @Test
    func itsDescriptionShowsNoSecret() {
        let time = Date(timeIntervalSinceReferenceDate: 0)
        let response = HTTPCache.Entry(
            key: HTTPCache.Entry.Key(target: "https://api.example/?token=secret", principal: "ann"), requestTime: time,
            responseTime: time)
        #expect(!"\(response)".contains("secret"))
    }

    @Test("Set-Cookie is not stored")
    func setCookie() {
        let headers: HTTPHeaders = [.setCookie: "sid=hunter2", "X-Kept": "1", .date: "Mon, 01 Jan 2024 00:00:00 GMT"]
        let kept = CacheFields.storable(
            headers, CacheControl(headers), receivedAt: Date(timeIntervalSince1970: 1_704_067_200))
        #expect(!kept.contains(.setCookie) && kept.contains("X-Kept"))
    }
}
