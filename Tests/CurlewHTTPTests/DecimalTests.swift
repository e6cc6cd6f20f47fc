// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct DecimalTests {
    @Test("Digits end where their type does, whatever the width of Int")
    func limits() {
        #expect(ASCII.decimal("2147483647".utf8, as: Int32.self) == .max)
        #expect(ASCII.decimal("2147483648".utf8, as: Int32.self) == nil)
        #expect(ASCII.decimal("2147483648".utf8, as: Int64.self) == 2_147_483_648)
        #expect(ASCII.decimal("9223372036854775807".utf8, as: Int64.self) == .max)
        #expect(ASCII.decimal("9223372036854775808".utf8, as: Int64.self) == nil)
        #expect(ASCII.decimal("0042".utf8) == 42)
        for text in ["", "-1", "+1", " 1", "1 ", "1e3", "١"] { #expect(ASCII.decimal(text.utf8) == nil) }
    }

    @Test("A range beyond four gigabytes is read; a length of the largest number is refused")
    func positions() throws {
        let range = try #require(ContentRange("bytes 4294967296-4294967299/9223372036854775806"))
        #expect(range.bytes == 4_294_967_296..<4_294_967_300)
        #expect(range.length == Int64.max - 1)
        #expect(ContentRange("bytes 0-1/9223372036854775807") == nil)
    }
}
