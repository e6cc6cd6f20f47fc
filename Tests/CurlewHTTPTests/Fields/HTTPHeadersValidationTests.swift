// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewHTTP

@Suite(.timeLimit(.minutes(1)))
struct HTTPHeadersValidationTests {
    static let writers: [(String, @Sendable (HTTPField.Name, String) -> HTTPHeaders)] = [
        ("subscript", { name, value in change { $0[name] = value } }),
        ("set", { name, value in change { $0.set(name, value) } }),
        ("append", { name, value in change { $0.append(name, value) } }),
        (
            "append sequence",
            { name, value in change { $0.append(contentsOf: [HTTPField(name: name, value: value)]) } }
        ),
        ("append headers", { name, value in change { $0.append(contentsOf: [name: value] as HTTPHeaders) } }),
        ("init", { name, value in HTTPHeaders([HTTPField(name: name, value: value)]) }),
        ("literal", { name, value in [name: value] }),
        ("merging", { name, value in HTTPHeaders().merging([name: value], replacing: true) }),
        ("merging kept", { name, value in HTTPHeaders().merging([name: value], replacing: false) }),
    ]

    static let badFields: [(HTTPField.Name, String)] = [
        ("X-A", "v\r\nInjected: 1"), ("X-A", "v\nInjected: 1"), ("X-A", "v\rInjected: 1"), ("X-A", "v\u{0}"),
        ("X-A", "\u{1}"), ("X-A", "v\u{7F}"), ("X-A", "v\u{1B}[0m"), ("X-A", "\r\n"), ("X-A", "\n v"),
        ("", "v"), ("X A", "v"), ("X:A", "v"), ("X-A\r\nInjected", "v"), ("X-É", "v"), ("X-A ", "v"), ("(x)", "v"),
    ]

    @Test("An invalid field is kept out and remembered", arguments: badFields)
    func refused(name: HTTPField.Name, value: String) throws {
        for (path, write) in Self.writers {
            let headers = write(name, value)
            #expect(headers.isEmpty, "\(path)")
            let problem = try #require(headers.problem, "\(path)")
            #expect(!problem.description.contains { $0.isNewline || $0 == "\u{0}" })
            #expect(!problem.description.contains("Injected: 1"))
        }
    }

    @Test(
        "A valid value is kept, without white space around it",
        arguments: [
            ("plain", "plain"), ("", ""), ("  \t ", ""), (" a b ", "a b"), ("\ta\tb\t", "a\tb"), ("naïve ✓", "naïve ✓"),
            ("a", "a"), (" a", "a"), ("a ", "a"),
        ])
    func kept(value: String, expected: String) {
        for (path, write) in Self.writers {
            let headers = write("X-A", value)
            #expect(headers["x-a"] == expected, "\(path)")
            #expect(headers.problem == nil, "\(path)")
        }
    }

    @Test("The first problem stays, and a refused value leaves the field as it was")
    func firstProblem() {
        var headers: HTTPHeaders = [.accept: "good", "First": "a\nb"]
        headers[.accept] = "bad\r"
        headers.append("Second", "\u{0}")
        headers[.host] = "fine"
        #expect(headers[.accept] == "good")
        #expect(headers[.host] == "fine")
        #expect(headers.problem?.name == "First")
    }

    @Test("A problem travels with merging, appending and equality")
    func travels() {
        let bad: HTTPHeaders = ["X": "\n"]
        var good: HTTPHeaders = [.accept: "a"]
        #expect(good.merging(bad, replacing: true).problem != nil)
        #expect(bad.merging(good, replacing: false).problem != nil)
        #expect(good != good.merging(bad, replacing: false))
        good.append(contentsOf: bad)
        #expect(good.problem != nil)
    }

    @Test("A problem shows the name escaped and clipped, and never the value")
    func shown() throws {
        let long: HTTPHeaders = [HTTPField.Name("bad name " + String(repeating: "x", count: 500)): "s3cret"]
        let problem = try #require(long.problem)
        #expect(problem.name.utf8.count < 80)
        #expect(!problem.description.contains("s3cret"))
        let control: HTTPHeaders = ["a\r\nb\u{1B}": "v"]
        #expect(control.problem?.name == "a\\r\\nb\\u{0001B}" || control.problem?.name == "a\\r\\nb\\u{1B}")
    }

    private static func change(_ body: (inout HTTPHeaders) -> Void) -> HTTPHeaders {
        var headers = HTTPHeaders()
        body(&headers)
        return headers
    }
}
