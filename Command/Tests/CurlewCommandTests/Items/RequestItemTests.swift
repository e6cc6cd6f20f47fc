// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCommand

@Suite(.timeLimit(.minutes(1)))
struct RequestItemTests {
    @Test(arguments: [
        ("name=value", RequestItem.text(name: "name", value: "value")),
        ("name=", .text(name: "name", value: "")),
        ("a=b=c", .text(name: "a", value: "b=c")),
        ("a=b:c@d", .text(name: "a", value: "b:c@d")),
        ("age:=31", .json(name: "age", value: "31")),
        ("q==v", .query(name: "q", value: "v")),
        ("q==", .query(name: "q", value: "")),
        ("X-A:b", .header(name: "X-A", value: "b")),
        ("X-A:b=c", .header(name: "X-A", value: "b=c")),
        ("X-A:", .removedHeader(name: "X-A")),
        ("X-A;", .emptyHeader(name: "X-A")),
        ("a;b=c", .text(name: "a;b", value: "c")),
        ("f@a.txt", .file(name: "f", path: "a.txt")),
        ("f=@a.txt", .textFile(name: "f", path: "a.txt")),
        ("f:=@a.json", .jsonFile(name: "f", path: "a.json")),
        ("@a.txt", .body(path: "a.txt")), ("@-", .body(path: "-")),
        (#"a\=b=c"#, .text(name: "a=b", value: "c")),
        (#"a\:b:c"#, .header(name: "a:b", value: "c")),
        (#"a\@b=c"#, .text(name: "a@b", value: "c")),
        (#"a\\=c"#, .text(name: #"a\"#, value: "c")),
        (#"a\n=c"#, .text(name: #"a\n"#, value: "c")),
        ("a\u{301}=\u{301}", .text(name: "a\u{301}", value: "\u{301}")),
    ])
    func theFirstMarkDecides(_ written: String, _ item: RequestItem) throws {
        #expect(try RequestItem(written) == item)
    }

    @Test(arguments: ["", "name", "=value", ":value", "==v", ":=1", "a:=", "a@", "a=@", "@", #"a\=b"#])
    func otherTextIsRefused(_ written: String) {
        #expect(throws: UsageError.self) { try RequestItem(written) }
    }

    @Test(arguments: [
        (":8080/a", "http://localhost:8080/a"), (":/a", "http://localhost/a"), (":", "http://localhost"),
        ("localhost/a", "http://localhost/a"), ("localhost:1", "http://localhost:1"),
        ("127.0.0.1:80?a", "http://127.0.0.1:80?a"), ("[::1]:8080/", "http://[::1]:8080/"), ("[::1]", "http://[::1]"),
        ("host/a", "https://host/a"), ("host:8443", "https://host:8443"), ("http://host", "http://host"),
        ("HTTPS://host", "HTTPS://host"), ("ws://host/a", "http://host/a"), ("wss://host", "https://host"),
        ("localhost.example", "https://localhost.example"),
    ])
    func shorthandIsCompleted(_ written: String, _ url: String) throws {
        #expect(try URLShorthand.complete(written) == url)
    }

    @Test func otherSchemesAreRefused() {
        for url in ["ftp://host", "file:///a", ""] {
            #expect(throws: UsageError.self) { try URLShorthand.complete(url) }
        }
    }
}
