// SPDX-License-Identifier: MIT

import CurlewTransfers
import Testing

@Suite(.timeLimit(.minutes(1)))
struct MultipartFormTests {
    func body(_ form: MultipartForm) throws -> RequestBody { try form.body() }

    /// What is sent, with files read in.
    func text(_ form: MultipartForm) throws -> String {
        guard case .parts(let parts) = try form.body().kind else { return "" }
        var all = Data()
        for part in parts {
            switch part {
            case .bytes(let data): all.append(data)
            case .file(let path, let offset, let length):
                let data = FileManager.default.contents(atPath: path) ?? Data()
                all.append(data.dropFirst(Int(offset)).prefix(Int(length)))
            }
        }
        return String(decoding: all, as: UTF8.self)
    }

    func withFile<Result>(_ name: String, _ content: Data, _ work: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("curlew-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent(name).path
        _ = FileManager.default.createFile(atPath: path, contents: content)
        return try work(path)
    }

    @Test func fieldsAndBytesAreLaidOutAsTheStandardSays() throws {
        let form = MultipartForm(
            [
                .field("caption", "On the beach"), .field("stars", [3, 4]), .field("none", [String]()),
                .data("photo", Data("JPEG".utf8), fileName: "a.jpg"),
                .data("meta", Data("{}".utf8), type: .json),
            ], boundary: "XX")
        #expect(form.mediaType.description == "multipart/form-data; boundary=XX")
        #expect(
            try text(form) == """
                --XX\r
                Content-Disposition: form-data; name="caption"\r
                \r
                On the beach\r
                --XX\r
                Content-Disposition: form-data; name="stars"\r
                \r
                3\r
                --XX\r
                Content-Disposition: form-data; name="stars"\r
                \r
                4\r
                --XX\r
                Content-Disposition: form-data; name="photo"; filename="a.jpg"\r
                Content-Type: image/jpeg\r
                \r
                JPEG\r
                --XX\r
                Content-Disposition: form-data; name="meta"\r
                Content-Type: application/json\r
                \r
                {}\r
                --XX--\r

                """)
        #expect(try body(form).length == Int64(try text(form).utf8.count))
        #expect(try body(form).canReplay)
    }

    @Test func filesAreReferredToNotRead() throws {
        try withFile("beach.png", Data(repeating: 0x41, count: 100_000)) { path in
            let form: MultipartForm = [.file("photo", path: path), .field("n", "1")]
            guard case .parts(let parts) = try form.body().kind else {
                Issue.record("no parts")
                return
            }
            #expect(parts.count == 3)
            guard case .file(path, 0, 100_000) = parts[1] else {
                Issue.record("the file is not a piece of its own")
                return
            }
            let sent = try text(form)
            #expect(sent.contains("filename=\"beach.png\"\r\nContent-Type: image/png\r\n\r\nAAAA"))
            #expect(try body(form).length == Int64(sent.utf8.count))
        }
    }

    @Test func anEmptyFileIsAnEmptyPart() throws {
        try withFile("empty.txt", Data()) { path in
            let form = MultipartForm([.file("f", path: path)], boundary: "B")
            let sent = try text(form)
            #expect(sent.hasSuffix("Content-Type: text/plain\r\n\r\n\r\n--B--\r\n"))
        }
    }

    @Test func namesCannotForgeFieldsOrParts() throws {
        let evil = "a\"\r\nX-Evil: 1"
        let form = MultipartForm(
            [.data(evil, Data(), fileName: evil, type: MediaType(type: "text", subtype: "x\r\nX-Evil: 2"))],
            boundary: "B")
        let sent = try text(form)
        #expect(sent.contains(#"name="a%22%0D%0AX-Evil: 1"; filename="a%22%0D%0AX-Evil: 1""#))
        #expect(!sent.contains("\r\nX-Evil"))
    }

    @Test(arguments: ["\0", "\u{1B}", "\t", "\u{7F}", "\\", "\"\u{301}", "\r\n", "\u{8}"])
    func namesHoldNoControlCharacterAndEscapeNoQuote(text: String) throws {
        let name = "shell.php\(text)x.jpg\(text)"
        let sent = try self.text(MultipartForm([.data(name, Data(), fileName: name)], boundary: "B"))
        let line = try #require(sent.utf8.split(separator: 0x0A).dropFirst().first).dropLast()
        #expect(line.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(!zip(line, line.dropFirst()).contains { $0 == 0x5C && ($1 == 0x22 || $1 == 0x5C) })
        // Those around the two names, and no others.
        #expect(line.count { $0 == UInt8(ascii: "\"") } == 4)
    }

    @Test func aFileIsNamedByWhatFollowsTheLastSlashWhateverFollowsThat() throws {
        try withFile("\u{301}x.png", Data("A".utf8)) { path in
            let form = MultipartForm([.file("f", path: path)], boundary: "B")
            let sent = try text(form)
            #expect(sent.contains("filename=\"\u{301}x.png\"\r\nContent-Type: image/png"))
        }
    }

    @Test func namesOutsideASCIIStayAsTheyAre() throws {
        let form = MultipartForm([.data("größe", Data(), fileName: "süß 1.txt")], boundary: "B")
        #expect(try text(form).contains("name=\"größe\"; filename=\"süß 1.txt\""))
    }

    @Test(arguments: ["", "a b ", "ä", "a\r\nb", String(repeating: "x", count: 71)])
    func boundariesThatBreakTheRulesAreRefused(boundary: String) {
        #expect(thrownReason { try body(MultipartForm([], boundary: boundary)) } == .invalidRequest)
    }

    @Test func everyFormHasItsOwnBoundary() {
        let boundaries = Set((0..<100).map { _ in MultipartForm().boundary })
        #expect(boundaries.count == 100)
        #expect(boundaries.allSatisfy { $0.utf8.count <= 70 })
    }

    @Test func aMissingFileAndAFolderAreRefused() {
        for path in ["/no/such/file", FileManager.default.temporaryDirectory.path] {
            let error = #expect(throws: NetworkError.self) { try body([.file("f", path: path)]) }
            #expect(error?.reason == .invalidRequest)
            #expect(error?.detail.contains(path) == true)
        }
    }

    @Test(arguments: [
        ("a.JPG", "image/jpeg"), ("/x/y.tar.gz", "application/gzip"), ("noext", "application/octet-stream"),
        (".hidden", "application/octet-stream"), ("a.", "application/octet-stream"),
        ("dir.png/file", "application/octet-stream"),
        ("x.webp", "image/webp"),
    ])
    func theExtensionDecidesTheType(name: String, type: String) {
        #expect(MediaType(fileName: name).description == type)
    }
}
