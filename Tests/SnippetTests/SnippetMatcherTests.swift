// SPDX-License-Identifier: MIT

import Testing

/// The test of the documentation can fail.
@Suite(.timeLimit(.minutes(1)))
struct SnippetMatcherTests {
    static let file = CompiledFile(
        name: "Some.swift",
        text: """
            import Curlew

            struct GetUser {
                var id: Int
            }

            func some() {
                let user = 1  // one

                print(user)
                if user == 1 {
                    print("one")
                }
            }
            """)

    static func page(_ code: String) -> DocumentPage {
        DocumentPage(name: "Page.md", text: "# Page\n\nText.\n\n```swift\n\(code)\n```\n")
    }

    static func problem(_ code: String) throws -> String? {
        let snippet = try #require(page(code).snippets.first)
        return DocumentationTests.problem(with: snippet, in: [file])
    }

    @Test(arguments: [
        "import Curlew",
        "struct GetUser {\n    var id: Int\n}",
        "let user = 1                // one",
        "print(user)\nif user == 1 {\n    print(\"one\")\n}",
        "struct GetUser {\n    var id: Int\n}\n\nprint(user)",
        "struct GetUser {\n    var id:\n        Int\n}",
    ])
    func finds(_ code: String) throws {
        #expect(try Self.problem(code) == nil)
    }

    @Test(arguments: [
        "import Curlew2",
        "struct GetUser {\n    let id: Int\n}",
        "struct GetUser {\n        var id: Int\n}",
        "struct GetUser {\n}",
        "struct GetUser {\n    var id:\n        Int2\n}",
        "struct GetUser { var id: Int }",
        "let user = 1                // two",
        "let user = 1",
        "print(user)\nprint(\"one\")",
        "print(user)\n\nstruct GetUser {\n    var id: Int\n}",
        "if user == 1 {\n    print(\"one\")\n}\n\nif user == 1 {",
    ])
    func misses(_ code: String) throws {
        #expect(try Self.problem(code) != nil)
    }

    @Test func saysWhere() throws {
        let problem = try #require(try Self.problem("struct GetUser {\n    var id: String\n}"))
        #expect(problem.contains("Page.md:7:") && problem.contains("page:    var id: String"))
        #expect(problem.contains("nearest: Some.swift:4: var id: Int"))
        #expect(try Self.problem("let nothing = 0")?.contains("Page.md:6:") == true)
    }

    @Test func readsBlocks() {
        let page = DocumentPage(
            name: "Page.md",
            text: """
                ```swift
                one
                ```

                - in a list

                  ```swift
                  two
                  ```

                ```sh
                three
                ```
                <!-- not compiled: a manifest -->
                ```swift
                four
                ```
                <!-- not compiled -->

                ```swift
                five
                ```

                ```swift
                six
                ```
                """)
        #expect(page.snippets.map(\.text) == [["one"], ["  two"], ["four"], ["five"], ["six"]])
        #expect(page.snippets.map(\.line) == [2, 8, 16, 21, 25])
        #expect(page.snippets.map(\.exemption) == [nil, nil, "a manifest", "", nil])
    }
}
