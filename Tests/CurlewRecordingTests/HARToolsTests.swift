// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewJSON
import CurlewTesting
import Foundation
import TestServers
import Testing

@testable import CurlewCore
@testable import CurlewRecording

/// Our documents in the hands of independent programs: a validator of JSON schemas, and a reader of HAR.
@Suite(.timeLimit(.minutes(2)))
struct HARToolsTests {
    /// Runs a program of Python that needs a module. Nil without the module.
    private func python(_ script: String, module: String, _ files: [String]) async throws -> String? {
        for path in [try Program.python(), try? Program.path("python3")].compactMap(\.self) {
            let has = try await onThread { (try? Program.run(path, ["-c", "import \(module)"])) != nil }
            guard has else { continue }
            return try await onThread {
                String(decoding: try Program.run(path, ["-c", script] + files), as: UTF8.self)
            }
        }
        print("Not tried: Python has no module \(module). Scripts/setup installs it.")
        return nil
    }

    /// A recording of real calls: successes, a redirect, retries, a failure, a cached body and a form.
    private func recording() async throws -> HARDocument {
        let recorder = FlightRecorder(bodies: .upTo())
        let count = Locked(0)
        let clock = ManualClock(skipsWaits: true)
        let client = APIClient.mock(
            pipeline: .standard.adding(.recording(recorder)), configuration: APIClient.Configuration(time: clock)
        ) {
            $0.on(.get, "/users/:id", .json(text: #"{"name":"Ann","token":"x"}"#, headers: [.setCookie: "a=b"]))
            $0.on(.post, "/users", .status(201))
            $0.on(.get, "/old", .status(301, headers: [.location: "/users/2"]))
            $0.on(.get, "/flaky") { _ -> HTTPResponse in
                count.withLock { count in
                    count += 1
                    return count == 1 ? .status(503) : .data(Data([1, 2, 255]))
                }
            }
            $0.fail(.get, "/gone", with: NetworkError(.timedOut(.connect)))
        }
        try await client.send(.get("/users/1", query: ["page": 1, "q": "a b"]))
        try await client.send(.post("/users", body: .form(["name": "Ann", "password": "x"])))
        try await client.send(.get("/old"))
        try await client.send(.get("/flaky"))
        await #expect(throws: NetworkError.self) { try await client.send(.get("/gone")) }
        return recorder.har()
    }

    @Test("recorded and converted documents are valid by the schema of HAR 1.2, and a broken one is not")
    func schema() async throws {
        let folder = try TemporaryFolder()
        let script = """
            import json, sys, jsonschema
            validator = jsonschema.Draft7Validator(json.load(open(sys.argv[1])),
                format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
            for path in sys.argv[2:]:
                errors = list(validator.iter_errors(json.load(open(path))))
                print(len(errors), [e.message[:200] for e in errors[:3]])
            """
        let recorded = try await recording()
        let sample = SampleRecording.document(calls: 100)
        var broken = recorded
        broken.log.version = "2"
        let files = try [
            folder.file("schema.json", HARSchema.text), folder.file("recorded.har", recorded.data()),
            folder.file("sample.har", sample.data(pretty: true)), folder.file("empty.har", HARDocument().data()),
            folder.file("redacted.har", sample.redacted().data()), folder.file("broken.har", broken.data()),
        ]
        guard let output = try await python(script, module: "jsonschema", files) else { return }
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.count == 5)
        #expect(lines.dropLast().allSatisfy { $0 == "0 []" }, "\(output)")
        #expect(lines.last?.hasPrefix("1 ") == true, "\(output)")
        if let keep = ProcessInfo.processInfo.environment["CURLEW_SCREENSHOTS"] {
            try recorded.data(pretty: true).write(to: URL(fileURLWithPath: keep + "/recorded.har"))
            try sample.data().write(to: URL(fileURLWithPath: keep + "/sample.har"))
        }
    }

    @Test("an independent reader has the same entries, sizes and times")
    func reader() async throws {
        let script = """
            import json, sys
            from haralyzer import HarParser
            parser = HarParser(json.load(open(sys.argv[1])))
            entries = [entry for page in parser.pages for entry in page.entries]
            phases = ("blocked", "dns", "connect", "ssl", "send", "wait", "receive")
            print(json.dumps({
                "count": len(entries),
                "statuses": [entry.response.status for entry in entries],
                "bodies": sum(max(0, entry.response.bodySize) for entry in entries),
                "transfer": sum(entry.response.get("_transferSize", 0) for entry in entries),
                "time": sum(entry.time for entry in entries),
                "phases": {p: sum(max(0, entry.timings.get(p, -1)) for entry in entries) for p in phases},
                "posts": sum(1 for entry in entries if entry.request.method == "POST"),
                "creator": parser.creator["name"],
            }))
            """
        let folder = try TemporaryFolder()
        for document in [try await recording(), SampleRecording.document(calls: 300)] {
            let file = try folder.file("\(document.entries.count).har", document.data())
            guard let output = try await python(script, module: "haralyzer", [file]) else { return }
            let theirs = try FastJSONDecoder().decode(JSONValue.self, from: Data(output.utf8))
            let entries = document.entries
            func sum(_ value: (HARDocument.Entry) -> Double?) -> Double {
                entries.reduce(0) { $0 + max(0, value($1) ?? -1) }
            }
            func equal(_ one: Double?, _ other: Double) -> Bool { abs((one ?? -1) - other) < 0.001 }
            #expect(theirs["count"].int == entries.count && entries.count >= 8)
            #expect(Set(theirs["statuses"].array?.compactMap(\.int) ?? []) == Set(entries.map(\.response.status)))
            #expect(equal(theirs["bodies"].double, sum { Double($0.response.bodySize) }))
            #expect(equal(theirs["transfer"].double, sum { Double($0.response.transferSize ?? 0) }))
            #expect(equal(theirs["time"].double, sum { $0.time }))
            let phases: [(String, (HARDocument.Timings) -> Double?)] = [
                ("blocked", { $0.blocked }), ("dns", { $0.dns }), ("connect", { $0.connect }), ("ssl", { $0.ssl }),
                ("send", { $0.send }), ("wait", { $0.wait }), ("receive", { $0.receive }),
            ]
            for (name, value) in phases {
                #expect(equal(theirs["phases"][name].double, sum { value($0.timings) }), "\(name)")
            }
            #expect(theirs["posts"].int == entries.filter { $0.request.method == "POST" }.count)
            #expect(theirs["creator"].string == "Curlew")
        }
    }
}
