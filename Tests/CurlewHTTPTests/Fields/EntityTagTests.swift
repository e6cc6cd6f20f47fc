// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct EntityTagTests {
    @Test(arguments: [
        ("\"a\"", "a", false), ("W/\"a\"", "a", true), ("\"\"", "", false), (" \"a\" ", "a", false),
        (#""a\""#, "a\\", false), ("\"é\"", "é", false),
    ])
    func entityTagsAreRead(value: String, opaque: String, isWeak: Bool) {
        let tag = EntityTag(value)
        #expect(tag?.opaque == opaque)
        #expect(tag?.isWeak == isWeak)
    }

    @Test(arguments: ["", "a", "\"a", "a\"", "w/\"a\"", "W\"a\"", "W/a", "\"a\" x", "\"a b\"", "\"a\"b\"", "*"])
    func textThatIsNoTagIsRefused(value: String) {
        #expect(EntityTag(value) == nil)
    }

    /// The table of RFC 9110 §8.8.3.2.
    @Test(arguments: [
        ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
        ("\"1\"", "\"1\"", true, true),
    ])
    func tagsAreComparedStronglyAndWeakly(left: String, right: String, strongly: Bool, weakly: Bool) throws {
        let (left, right) = (try #require(EntityTag(left)), try #require(EntityTag(right)))
        #expect(left.matchesStrongly(right) == strongly)
        #expect((left.opaque == right.opaque) == weakly)
    }

    @Test(arguments: [
        ("*", true), ("\"a\"", true), ("W/\"a\"", true), ("\"b\", \"a\"", true), ("\"b\",,W/\"a\" ", true),
        ("\"b\"", false), ("", false), ("a", false), ("\"b\" \"a\"", false), ("\"a,\"", false), ("x, \"a\"", true),
    ])
    func findsATagInAList(list: String, expected: Bool) {
        #expect(EntityTag.list(list, names: EntityTag("\"a\"")) == expected)
    }

    @Test(arguments: [
        ("bytes=0-99", 0..<100), ("bytes=0-", 0..<200), ("bytes=-50", 150..<200), ("BYTES=5-5", 5..<6),
        ("bytes=150-999", 150..<200), ("bytes=-999", 0..<200), ("bytes= 1-2 ", 1..<3), ("bytes=200-", nil),
        ("bytes=-0", nil),
    ])
    func findsTheBytesOfARange(value: String, expected: Range<Int64>?) throws {
        #expect(try #require(ByteRange(value)).bytes(of: 200) == expected)
    }

    @Test(arguments: [
        "", "bytes=", "bytes=a-", "bytes=5-4", "bytes=0-1,2-3", "items=0-1", "bytes=--5", "bytes=1-2-3", "bytes 0-1",
        "bytes=9223372036854775807-", "bytes=99999999999999999999-", "bytes=-",
    ])
    func ignoresOtherRanges(value: String) {
        #expect(ByteRange(value) == nil)
    }

    @Test(arguments: [("bytes 0-99/200", 0..<100, 200), ("Bytes 5-5/*", 5..<6, nil)])
    func readsContentRanges(value: String, bytes: Range<Int64>, length: Int64?) {
        #expect(ContentRange(value) == ContentRange(bytes, of: length))
        #expect(ContentRange(value)?.description == value.lowercased())
    }

    @Test(arguments: [
        "bytes */200", "bytes 0-200/200", "bytes 5-4/10", "bytes 0-1", "items 0-1/2", "bytes 0-1/2/3", "bytes=0-1/2",
        "bytes 0-9223372036854775807/*", "",
    ])
    func refusesOtherContentRanges(value: String) {
        #expect(ContentRange(value) == nil)
    }

    @Test
    func noContentRangeIsEmpty() {
        let none = [ContentRange(0..<0, of: 0), ContentRange(5..<5, of: nil)] as [ContentRange?]
        #expect(none == [nil, nil])
    }

    @Test(arguments: 1...100)
    func noTextIsATrap(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let text = random.text(upTo: 20)
            let number = Int64.random(in: 0 ... .max, using: &random)
            _ = EntityTag(text)
            _ = EntityTag.list(text, names: EntityTag("\"a\""))
            for value in ["bytes=" + text, "bytes=\(number)-", "bytes=-\(number)", "bytes=0-\(number)"] {
                let bytes = ByteRange(value)?.bytes(of: number)
                #expect(bytes.map { !$0.isEmpty && $0.upperBound <= number } ?? true, "seed \(seed): \(value)")
            }
            _ = ContentRange("bytes " + text)
        }
    }
}
