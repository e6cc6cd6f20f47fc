// SPDX-License-Identifier: MIT

import TestServers
import Testing

@testable import CurlewTransfers

/// Random forms, as two parsers of Python servers read them. `CURLEW_MULTIPART_FORMS` makes more of
/// them than a usual run.
@Suite(.timeLimit(.minutes(5)))
struct MultipartInteropTests {
    /// Nil if both parsers are there, otherwise why they cannot be used.
    private static let problem: String? = {
        do {
            try Program.run(Program.python(), ["-c", imports])
            return nil
        } catch {
            return "multipart: skipped, because Python's werkzeug or multipart is missing (Scripts/setup installs them)"
        }
    }()

    /// The bytes of a form, and its parts as the parsers should print them.
    private struct Sample {
        let boundary: String
        let bytes: Data
        let parts: String
    }

    @Test("Every part of random forms is identical at two other parsers")
    func randomForms() async throws {
        if let problem = Self.problem {
            print(problem)
            return
        }
        let environment = ProcessInfo.processInfo.environment
        let count = environment["CURLEW_MULTIPART_FORMS"].flatMap { Int($0) } ?? 300
        let seed = environment["CURLEW_MULTIPART_SEED"].flatMap { UInt64($0) } ?? .random(in: 0...(.max))
        print("MultipartInteropTests \(count) forms, seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        var samples: [Sample] = []
        var input = Data()
        for number in 0..<count {
            let sample = try await Self.sample(number, in: folder, &random)
            samples.append(sample)
            for data in [Data(sample.boundary.utf8), sample.bytes] {
                withUnsafeBytes(of: UInt32(data.count).bigEndian) { input.append(contentsOf: $0) }
                input.append(data)
            }
        }
        let file = try folder.file("forms", input)
        let output = try await onThread { try Program.run(Program.python(), ["-c", Self.imports + Self.script, file]) }
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count == 2 * count + 1, "\(lines.last ?? "")")
        for (number, sample) in samples.enumerated() {
            #expect(lines[2 * number] == "werkzeug \(sample.parts)", "seed \(seed), form \(number)")
            #expect(lines[2 * number + 1] == "multipart \(sample.parts)", "seed \(seed), form \(number)")
        }
    }

    private static func sample(
        _ number: Int, in folder: TemporaryFolder, _ random: inout SeededGenerator
    ) async throws -> Sample {
        let boundary = "curlew-" + String(random.next(), radix: 36) + String(random.next(), radix: 36)
        var parts: [MultipartForm.Part] = []
        var lines: [String] = []
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let name = "n" + random.text(upTo: 12)
            // Two letters, because parsers take "f:\" in front for a drive of Windows and remove it.
            let fileName = Bool.random(using: &random) ? "fi" + random.text(upTo: 12) : nil
            let content = content(boundary, &random)
            let part: MultipartForm.Part
            var shown = fileName
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                let text = String(decoding: content, as: UTF8.self)
                part = .field(name, text)
                shown = nil
                lines.append(line(name, nil, nil, Data(text.utf8)))
                parts.append(part)
                continue
            case 1: part = .data(name, content, fileName: fileName)
            case 2:
                shown = fileName ?? "f"
                part = .file(name, path: try folder.file("\(number)-\(parts.count)", content), fileName: shown)
            default:
                let length = Bool.random(using: &random) ? Int64(content.count) : nil
                let size = Int.random(in: 1...100, using: &random)
                part = .part(
                    name, .stream(length: length, replay: .always) { RequestBody.Chunks(Pieces(content, size)) },
                    fileName: fileName)
            }
            parts.append(part)
            lines.append(line(name, shown, part.mediaType?.description, content))
        }
        let form = MultipartForm(parts, boundary: boundary)
        let bytes = try await MultipartBodyTests.bytes(form.body())
        return Sample(boundary: boundary, bytes: bytes, parts: lines.joined(separator: ";"))
    }

    /// Random bytes, or what could be taken for a delimiter and is none.
    private static func content(_ boundary: String, _ random: inout SeededGenerator) -> Data {
        while true {
            var content = Data()
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: content += random.bytes(upTo: 300)
                case 1:
                    let marks = ["\r", "\n", "\r\n", "--", "\r\n--", "\0"]
                    content += Data((marks.randomElement(using: &random) ?? "").utf8)
                case 2:
                    let dropped = Int.random(in: 1...20, using: &random)
                    content += Data("\r\n--\(boundary.dropLast(dropped))".utf8)
                default: content += Data(random.text(upTo: 100).utf8)
                }
            }
            // A beginning of the boundary and the next bytes may be all of it.
            if content.range(of: Data(boundary.utf8)) == nil { return content }
        }
    }

    private static func line(_ name: String, _ fileName: String?, _ type: String?, _ content: Data) -> String {
        func hexadecimal(_ text: String) -> String { Data(text.utf8).map { twoDigits($0) }.joined() }
        func escaped(_ text: String) -> String {
            let all = Array(text.utf8)
            let bytes = all.enumerated().flatMap { place, byte -> [UInt8] in
                let escapes = byte == 0x5C && (place + 1 == all.count || all[place + 1] == 0x5C)
                let isKept = byte >= 0x20 && byte != 0x7F && byte != 0x22 && !escapes
                return isKept ? [byte] : Array(("%" + twoDigits(byte).uppercased()).utf8)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
        return [
            hexadecimal(escaped(name)), fileName.map { hexadecimal(escaped($0)) } ?? "-", type ?? "-",
            MessageDigest.sha256(content).hexText,
        ].joined(separator: ",")
    }

    private static func twoDigits(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private struct Pieces: AsyncSequence, Sendable {
        typealias Element = Data

        let data: Data
        let size: Int

        init(_ data: Data, _ size: Int) {
            self.data = data
            self.size = size
        }

        func makeAsyncIterator() -> Iterator { Iterator(rest: data, size: size) }

        struct Iterator: AsyncIteratorProtocol {
            var rest: Data
            let size: Int

            mutating func next() async -> Data? {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(size) }
                return rest.prefix(size)
            }
        }
    }

    /// The second package has had both names.
    private static let imports = """
        from werkzeug.sansio import multipart as werkzeug
        try:
            from python_multipart.multipart import MultipartParser, parse_options_header
        except ImportError:
            from multipart.multipart import MultipartParser, parse_options_header
        """

    private static let script = #"""

        import hashlib, struct, sys

        def line(name, filename, kind, content):
            shown = "-" if filename is None else filename.hex()
            return ",".join([name.hex(), shown, kind or "-", hashlib.sha256(content).hexdigest()])

        def by_werkzeug(boundary, body):
            decoder = werkzeug.MultipartDecoder(boundary)
            decoder.receive_data(body)
            decoder.receive_data(None)
            parts, event = [], None
            while not isinstance(event, werkzeug.Epilogue):
                event = decoder.next_event()
                if isinstance(event, (werkzeug.Field, werkzeug.File)):
                    head, content = event, b""
                elif isinstance(event, werkzeug.Data):
                    content += event.data
                    if not event.more_data:
                        name = getattr(head, "filename", None)
                        parts.append(line(head.name.encode(), None if name is None else name.encode(),
                                          head.headers.get("content-type"), content))
            return ";".join(parts)

        def by_multipart(boundary, body):
            parts, state = [], {}
            def begin():
                state.update(fields={}, name=b"", value=b"", content=b"")
            def add(key):
                def call(data, start, end):
                    state[key] += data[start:end]
                return call
            def end_field():
                state["fields"][state["name"].lower()] = state["value"]
                state["name"] = state["value"] = b""
            def end():
                fields = state["fields"]
                options = parse_options_header(fields[b"content-disposition"])[1]
                kind = fields.get(b"content-type")
                parts.append(line(options[b"name"], options.get(b"filename"), kind and kind.decode(), state["content"]))
            parser = MultipartParser(boundary, {
                "on_part_begin": begin, "on_header_field": add("name"), "on_header_value": add("value"),
                "on_header_end": end_field, "on_part_data": add("content"), "on_part_end": end})
            parser.write(body)
            parser.finalize()
            return ";".join(parts)

        with open(sys.argv[1], "rb") as file:
            def take():
                size = file.read(4)
                return file.read(struct.unpack(">I", size)[0]) if size else None
            while (boundary := take()) is not None:
                body = take()
                print("werkzeug", by_werkzeug(boundary, body))
                print("multipart", by_multipart(boundary, body))
        """#
}
