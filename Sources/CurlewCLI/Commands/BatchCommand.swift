// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP
import CurlewTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `curlew batch`: requests as JSON lines, results as JSON lines in the same order.
///
///     {"method": "POST", "url": "https://api.example/users", "headers": {"X-A": "1"}, "body": {"name": "Ann"}}
///     {"index":0,"status":201,"time_ms":12.4,"headers":{...},"body":{"id":7}}
///     {"index":1,"error":"unreachable","message":"..."}
///
/// A line may have its own credential: `"auth": "USER:PASSWORD"`, or `"auth": "TOKEN", "auth_type": "bearer"`. It is
/// sent with that request only, and not to another origin after a redirect. `--auth` is for the origins of
/// `--auth-origin`, or for the origin of the first line.
struct BatchCommand {
    let arguments: ParsedArguments
    let io: CommandIO

    /// The greatest input.
    private static let inputLimit = 256 << 20

    func run() async throws -> ExitCode {
        let console = Console(arguments, io)
        let lines = try await lines()
        let usual = RequestPlan(method: .get, url: "http://localhost", headers: HTTPHeaders(), content: .none)
        let first = lines.lazy.compactMap { Self.plan(line: $0) }.first { plan in
            (try? HTTPRequest(url: plan.url)) != nil
        }
        let insight = Insight(arguments, console)
        let (client, session) = try ClientBuilder(arguments: arguments, io: io, hasTarget: first != nil)
            .client(for: first ?? usual, observers: insight.observers, adding: insight.interceptors)
        let concurrency = try arguments.number(.concurrency, in: 1...1000) ?? 8
        let showsSecrets = arguments.has(.showSecrets)
        let batch = client.batch(lines, concurrency: concurrency) { (line: String) in
            await Self.result(line, client, showsSecrets)
        }
        let failures = Locked(0)
        do {
            try await batch.forEach(inOrder: true) { outcome in
                var object = JSONValue.Object()
                object["index"] = JSONValue(outcome.index)
                if case .success(let members) = outcome.result {
                    for (name, value) in members { object[name] = value }
                }
                let status = object["status"]?.int
                if status.map({ $0 >= 400 }) ?? true { failures.withLock { $0 += 1 } }
                let line = StreamCommands.line(.object(object))
                try console.write(console.isPretty ? SafeText.json(line) : line)
            }
        } catch {
            insight.finishAfterFailure(io)
            throw error
        }
        try insight.finish(io)
        try session?.save()
        let count = failures.withLock { $0 }
        if count > 0 { console.advise("\(count) of \(lines.count) requests failed.") }
        return count > 0 && !arguments.has(.ignoreStatus) ? .failure : .success
    }

    private func lines() async throws -> [String] {
        var data = Data()
        if let path = arguments.operands.first, path != "-" {
            data = try io.contents(of: path, limit: Self.inputLimit)
        } else {
            while let piece = try await io.read() {
                data.append(piece)
                guard data.count <= Self.inputLimit else { throw UsageError("The input has more than 256 MiB.") }
            }
        }
        var splitter = InputLines(limit: Self.inputLimit)
        let lines = try splitter.add(data) + (try splitter.end().map { [$0] } ?? [])
        return lines.filter { $0.utf8.contains { $0 > 0x20 } }
    }

    /// Returns the request of a line; nil if the line is not one.
    private static func plan(line: String) -> RequestPlan? {
        (try? FastJSONDecoder().decode(JSONValue.self, from: Data(line.utf8))).flatMap { try? plan($0) }
    }

    private static func plan(_ value: JSONValue) throws(UsageError) -> RequestPlan {
        guard let url = value["url"].string else {
            throw UsageError("A line has no \"url\".", "Write {\"url\": \"https://...\"}.")
        }
        for name in value.object?.keys ?? [] where !members.contains(name) {
            throw UsageError("A line has the unknown member \"\(name)\".")
        }
        guard value["headers"] == .null || value["headers"].object != nil else {
            throw UsageError("The member \"headers\" is no object.")
        }
        var headers = HTTPHeaders()
        for (name, field) in value["headers"].object ?? [:] {
            for text in field.array ?? [field] {
                headers.append(try RequestPlan.name(name), text.string ?? "\(text)")
            }
        }
        if let credential = try credential(value) {
            guard !headers.contains(.authorization) else {
                throw UsageError("A line has a field Authorization and the member \"auth\".")
            }
            headers.set(.authorization, credential)
        }
        var content = RequestContent.none
        switch value["body"] {
        case .null: break
        case .string(let text): content = .text(text)
        case let other: content = .json(other)
        }
        let method = value["method"].string ?? (content.mediaType == nil ? "GET" : "POST")
        return RequestPlan(
            method: HTTPMethod(rawValue: method.uppercased()), url: try URLShorthand.complete(url), headers: headers,
            content: content)
    }

    private static let members: Set<String> = ["url", "method", "headers", "body", "auth", "auth_type"]

    /// Returns the value of the field Authorization for a line that has its own credential.
    private static func credential(_ value: JSONValue) throws(UsageError) -> String? {
        let kind = value["auth_type"]
        guard value["auth"] != .null else {
            guard kind == .null else { throw UsageError("The member \"auth_type\" needs \"auth\".") }
            return nil
        }
        guard let text = value["auth"].string else { throw UsageError("The member \"auth\" is no text.") }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 || $0 == "\u{7F}" }) else {
            throw UsageError("The member \"auth\" has a control character.")
        }
        switch kind {
        case "bearer": return "Bearer " + text
        case .null, "basic":
            guard text.holds(":") else { throw UsageError("The member \"auth\" needs USER:PASSWORD.") }
            return "Basic " + Data(text.utf8).base64EncodedString()
        default: throw UsageError("The member \"auth_type\" is neither basic nor bearer.")
        }
    }

    private static func result(_ line: String, _ client: APIClient, _ showsSecrets: Bool) async -> JSONValue.Object {
        let value: JSONValue
        do { value = try FastJSONDecoder().decode(JSONValue.self, from: Data(line.utf8)) } catch {
            return [
                "error": "usage", "message": .string("The line is not JSON. \(NetworkError(error).detail)".printable),
            ]
        }
        do {
            let call = try plan(value).call { Request<HTTPResponse>($0, url: $1, body: $2, headers: $3, name: "") }
            let start = SystemTime().now
            let response = try await client.send(call)
            let data = try await response.body.collect(upTo: 64 << 20)
            let time = start.duration(to: SystemTime().now)
            var object: JSONValue.Object = [
                "status": JSONValue(response.status.code),
                "time_ms": .number(Double(time.wholeNanoseconds / 10_000) / 100),
            ]
            var fields = JSONValue.Object()
            for field in showsSecrets ? response.headers : Redaction.standard.headers(response.headers) {
                let name = field.name.text.lowercased()
                fields[name] = .string((fields[name]?.string.map { $0 + ", " } ?? "") + field.value)
            }
            object["headers"] = .object(fields)
            object["body"] = body(data, response.mediaType)
            return object
        } catch let error as UsageError {
            return ["error": "usage", "message": .string(error.message)]
        } catch {
            let error = NetworkError(error)
            return [
                "error": .string(error.label), "message": .string(error.detail.printable),
            ]
        }
    }

    private static func body(_ data: Data, _ type: MediaType?) -> JSONValue {
        if data.isEmpty { return .null }
        if type?.isJSON == true, let value = try? FastJSONDecoder().decode(JSONValue.self, from: data) { return value }
        return .string(String(decoding: data, as: UTF8.self))
    }
}
