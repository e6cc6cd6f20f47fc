// SPDX-License-Identifier: MIT

import Testing

@Suite(.timeLimit(.minutes(1)))
struct QueryItemsTests {
    enum Order: String, QueryValue { case up = "asc" }
    enum Labelled: String, QueryValue, CustomStringConvertible {
        case one = "1"
        var description: String { "the first" }
    }

    func target(_ query: QueryItems) throws -> String {
        try APIClient.testing(RecordingTransport()).request(for: Request<Data>.get("/q", query: query)).target
    }

    @Test func itemsKeepTheirOrderAndMayRepeat() throws {
        #expect(try target(["b": 1, "a": 2, "b": 3]) == "/v1/q?b=1&a=2&b=3")
        #expect(try target(["tag": ["x", "y"], "n": [1, 2]]) == "/v1/q?tag=x&tag=y&n=1&n=2")
        #expect(try target([:]) == "/v1/q")
    }

    @Test func nilValuesAndEmptyListsDropTheItem() throws {
        let page: Int? = nil
        let size: Int? = 20
        #expect(try target(["page": page, "size": size, "x": nil, "tags": [String]()]) == "/v1/q?size=20")
        #expect(try target(["page": page]) == "/v1/q")
    }

    @Test func valuesAreWrittenInTheirOneForm() throws {
        let id = UUID()
        #expect(
            try target(["on": true, "off": false, "x": 2.5, "o": Order.up, "l": Labelled.one])
                == "/v1/q?on=true&off=false&x=2.5&o=asc&l=1")
        #expect(
            try target(["id": id, "at": Date(timeIntervalSince1970: 0)])
                == "/v1/q?id=\(id.uuidString)&at=1970-01-01T00:00:00Z")
        #expect(try target(["s": Set(["b", "a"])]) == "/v1/q?s=a&s=b")
    }

    @Test func namesAndValuesCannotEndTheirItem() throws {
        #expect(try target(["a b&=": "1+1=2&x=#?é"]) == "/v1/q?a%20b%26%3D=1%2B1%3D2%26x%3D%23?%C3%A9")
        #expect(try target(["empty": ""]) == "/v1/q?empty=")
    }

    @Test func itemsCanBeReadAddedAndCompared() {
        var items: QueryItems = ["a": 1]
        items.append("b", 2)
        items.append("c", nil)
        #expect(items["b"] == "2")
        #expect(items["c"] == nil)
        #expect(items == QueryItems([("a", "1"), ("b", "2")]))
        #expect((items + ["d": 4]).items.map(\.name) == ["a", "b", "d"])
    }

    @Test func descriptionsHideSecrets() {
        let items: QueryItems = ["page": 1, "access_token": "s3cret"]
        #expect(items.description == "?page=REDACTED&access_token=REDACTED")
    }
}
