// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FormEncoderTests {
    struct Order: Encodable {
        struct Address: Encodable {
            var city = "Köln & Bonn"
            var lines = ["a=b", "c d"]
        }
        enum Kind: String, Encodable { case gift }
        var id = 7
        var paid = true
        var price = 2.5
        var note: String?
        var kind = Kind.gift
        var address = Address()
        var items = [["sku": "x+y"]]
        var at = Date(timeIntervalSince1970: 0)
        var data = Data([1, 2, 255])
        var url = URL(string: "https://x.example/a?b")
    }

    /// A list that holds itself.
    struct Endless: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(self)
        }
    }

    func form(_ content: RequestContent) throws -> String {
        let request = try APIClient.testing(RecordingTransport())
            .request(for: Request<Void>.post("/x", body: content))
        return String(decoding: request.body.data ?? Data(), as: UTF8.self)
    }

    @Test func membersBecomeFieldsInTheirOrder() throws {
        #expect(
            try form(.form(Order()))
                == [
                    "id=7", "paid=true", "price=2.5", "kind=gift", "address%5Bcity%5D=K%C3%B6ln+%26+Bonn",
                    "address%5Blines%5D=a%3Db", "address%5Blines%5D=c+d", "items%5Bsku%5D=x%2By",
                    "at=1970-01-01T00%3A00%3A00Z", "data=AQL%2F", "url=https%3A%2F%2Fx.example%2Fa%3Fb",
                ].joined(separator: "&"))
    }

    @Test func fieldsComeInTheOrderWritten() throws {
        #expect(try form(.form(["z": 1, "a": "x y", "z": nil as Int?, "b": [1, 2]])) == "z=1&a=x+y&b=1&b=2")
        #expect(try form(.form(["grant_type": "password", "a": "b"])) == "grant_type=password&a=b")
        #expect(try form(.form([:] as QueryItems)) == "")
    }

    @Test func theMembersOfADictionaryAreSorted() throws {
        let fields = ["c": "3", "a": "1", "b": "2", "d": "4"]
        #expect(try form(.form(fields)) == "a=1&b=2&c=3&d=4")
        #expect(try form(.form(["m": ["y": 1, "x": 2]])) == "m%5Bx%5D=2&m%5By%5D=1")
    }

    @Test func whatHasNoFieldsIsAnEncodingError() {
        for content in [RequestContent.form(5), .form("text"), .form(["a", "b"]), .form(Endless())] {
            #expect(thrownReason { try form(content) } == .encoding)
        }
    }
}
