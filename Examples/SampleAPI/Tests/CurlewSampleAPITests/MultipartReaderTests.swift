// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Testing

@testable import CurlewSampleAPI

@Suite(.timeLimit(.minutes(1)))
struct MultipartReaderTests {
    private static let field = "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"

    private func read(_ body: String) throws -> [MultipartReader.Part]? {
        let type = try #require(MediaType("multipart/form-data; boundary=b"))
        return MultipartReader.parts(of: Data(body.utf8), type: type)
    }

    @Test("Fields and files are distinguished, and content is kept to the byte")
    func reading() throws {
        let file =
            "--b  \r\ncontent-disposition: form-data; filename=\"x.png\"; name=f\r\nContent-Type: image/png\r\n\r\n"
        let parts = try #require(
            try read("preamble\r\n\(Self.field)\r\n-b\r\n\r\n\(file) --b\r\n--b--\r\nepilogue"))
        #expect(parts.map(\.name) == ["a", "f"])
        #expect(parts.map(\.fileName) == [nil, "x.png"])
        #expect(parts.map(\.mediaType) == [nil, MediaType("image/png")])
        #expect(parts.map { String(decoding: $0.content, as: UTF8.self) } == ["\r\n-b\r\n", " --b"])
    }

    @Test("A form may have no parts")
    func none() throws {
        #expect(try read("--b--")?.isEmpty == true)
    }

    @Test(
        "A broken form is refused",
        arguments: [
            "", "--b", "--b\r\n", "--bx\r\n", "--b-\r\n", field, field + "text", field + "text\r\n--b",
            "--b\r\n\r\ntext\r\n--b--", "--b\r\nContent-Disposition: form-data\r\n\r\ntext\r\n--b--",
            "--b\r\nContent-Disposition: attachment; name=a\r\n\r\ntext\r\n--b--",
            "--b\r\nno field\r\n\r\ntext\r\n--b--",
            "--b\r\nX: \(String(repeating: "x", count: 8192))\r\n\r\ntext\r\n--b--",
            String(repeating: field + "\r\n", count: 101) + "--b--",
        ])
    func broken(body: String) throws {
        #expect(try read(body) == nil)
    }

    @Test("A hundred parts are taken")
    func many() throws {
        #expect(try read(String(repeating: Self.field + "\r\n", count: 100) + "--b--")?.count == 100)
    }
}

@Suite(.timeLimit(.minutes(1)))
struct PixelAvatarTests {
    @Test("Checksums agree with the published examples")
    func checksums() {
        #expect(CRC32("123456789".utf8).hexadecimal == "cbf43926")
        #expect(CRC32([UInt8]()).hexadecimal == "00000000")
        #expect(Adler32.checksum("Wikipedia".utf8) == 0x11E6_0398)
    }

    @Test("An avatar is a PNG whose chunks carry their checksums", arguments: ["a", "grace-hopper.png", ""])
    func chunks(name: String) throws {
        let png = Array(PixelAvatar(name: name).png)
        #expect(png.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var rest = png.dropFirst(8)
        var types: [String] = []
        while rest.count >= 12 {
            let length = number(rest.prefix(4))
            let body = rest.dropFirst(4).prefix(4 + length)
            types.append(String(decoding: body.prefix(4), as: UTF8.self))
            #expect(Int(CRC32(body).value) == number(rest.dropFirst(8 + length).prefix(4)))
            rest = rest.dropFirst(12 + length)
        }
        #expect(types == ["IHDR", "PLTE", "IDAT", "IEND"])
        #expect(rest.isEmpty)
    }

    @Test("A name has one picture, and another name another")
    func names() {
        #expect(PixelAvatar(name: "ada").png == PixelAvatar(name: "ada").png)
        #expect(PixelAvatar(name: "ada").png != PixelAvatar(name: "grace").png)
    }

    private func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
