// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewTesting

@Suite(.timeLimit(.minutes(1)))
struct RouteTableTests {
    @Test(
        "A pattern reads its parameters, percent-decoded",
        arguments: [
            ("/users/:id", "/users/7", ["id": "7"]),
            ("/users/:id", "/users/7?full=yes", ["id": "7"]),
            ("users/:id", "/users/7", ["id": "7"]),
            ("/users/:id", "/users/a%2Fb%20c", ["id": "a/b c"]),
            ("/users/:id/posts/:post", "/users/7/posts/9", ["id": "7", "post": "9"]),
            ("/files/*path", "/files/a/b%20c", ["path": "a/b%20c"]),
            ("/caf%C3%A9", "/caf%c3%a9", [:]),
            ("/café", "/caf%C3%A9", [:]),
            ("/", "/", [:]),
            ("", "/", [:]),
            ("/a//b", "/a//b", [:]),
        ])
    func reads(pattern: String, target: String, expected: [String: String]) throws {
        let parameters = try #require(RoutePattern(.get, pattern).parameters(in: target))
        for (name, value) in expected { #expect(parameters[name] == value) }
        #expect(parameters["absent"] == nil)
    }

    @Test(
        "A pattern leaves other shapes alone",
        arguments: [
            ("/users/:id", "/users"), ("/users/:id", "/users/"), ("/users/:id", "/users/7/"),
            ("/users/:id", "/users/7/posts"), ("/users", "/Users"), ("/users", "/users/"), ("/files/*path", "/files"),
            ("/", "/a"), ("/a/b", "/a//b"),
        ])
    func refuses(pattern: String, target: String) {
        #expect(RoutePattern(.get, pattern).parameters(in: target) == nil)
    }

    @Test(
        "The most specific route wins in any order of adding",
        arguments: [
            ("/users/me", "/users/me"), ("/users/7", "/users/:id"), ("/users/7/posts", "/users/*rest"),
            ("/users/me/posts", "/users/me/:what"), ("/health", "*all"),
        ])
    func specificity(target: String, expected: String) {
        let paths = ["/users/me", "/users/:id", "/users/*rest", "/users/me/:what", "/users/:id/:what/:x", "*all"]
        for order in [paths, paths.reversed()] {
            var table = RouteTable<String>()
            for path in order { table.add(RoutePattern(.get, path), path) }
            guard case .found(let answer, _, _) = table.match(.get, target) else {
                Issue.record("nothing found for \(target)")
                continue
            }
            #expect(answer == expected)
        }
    }

    @Test("Of equal routes the last added wins, and a named method beats any")
    func ties() {
        var table = RouteTable<Int>()
        table.add(RoutePattern(.get, "/a"), 1)
        table.add(RoutePattern(.get, "/a"), 2)
        table.add(RoutePattern(nil, "/a"), 3)
        guard case .found(2, _, _) = table.match(.get, "/a") else {
            Issue.record("\(table.match(.get, "/a"))")
            return
        }
        guard case .found(3, _, _) = table.match(.put, "/a") else {
            Issue.record("\(table.match(.put, "/a"))")
            return
        }
    }

    @Test("A known path with another method names the methods there are")
    func methods() {
        var table = RouteTable<Int>()
        table.add(RoutePattern(.get, "/a"), 1)
        table.add(RoutePattern(.put, "/:x"), 2)
        guard case .otherMethods(let methods) = table.match(.delete, "/a") else {
            Issue.record("\(table.match(.delete, "/a"))")
            return
        }
        #expect(methods == [.get, .put])
        guard case .none = table.match(.delete, "/a/b") else {
            Issue.record("\(table.match(.delete, "/a/b"))")
            return
        }
    }
}
