// SPDX-License-Identifier: MIT

package import CurlewCore
import CurlewFoundation
package import CurlewHTTP

/// Calls, responses and errors that carry a value under many names at once, in every place.
extension SecretNames {
    /// The value, which no output may show.
    package static let canary = "hunter2"

    /// Returns what precedes the value wherever a text shows it.
    package static func leaks(in text: String) -> [String] {
        text.split(separator: canary, omittingEmptySubsequences: false).dropLast().prefix(5).map {
            String($0.suffix(80))
        }
    }

    /// All secret names in groups that fit into an excerpt.
    package static let groups: [[String]] = stride(from: 0, to: secret.count, by: 24).map {
        Array(secret[$0..<min($0 + 24, secret.count)])
    }

    private static func fields(_ names: [String]) -> HTTPHeaders {
        HTTPHeaders(
            names.map { HTTPField.Name($0) }.filter { $0.isValid && $0 != "Proxy-Authorization" }.map {
                HTTPField(name: $0, value: canary)
            })
    }

    private static func pairs(_ names: [String]) -> String {
        names.map { "\(PercentCoding.encode($0, for: .formValue))=\(canary)" }.joined(separator: "&")
    }

    /// Fields of proxies, servers and browsers whose values contain a URL or a target.
    private static func targets(_ names: [String]) -> HTTPHeaders {
        let query = pairs(names)
        return [
            "X-Original-URL": "/cb?\(query)#\(query)", "X-Rewrite-URL": "cb?\(query)",
            "X-Forwarded-Uri": "https://u:\(canary)@a.test/?\(query)", "Refresh": "0; url=/cb?\(query)",
            "Reporting-Endpoints": "main=\"https://a.test/r?\(query)\", other=\"//u:\(canary)@a.test/\"",
            "X-Return-To": PercentCoding.encode("https://a.test/?\(query)", for: .formValue),
        ]
    }

    private static func json(_ names: [String]) -> Data {
        let members = names.map { #""\#($0)":"\#(canary)""# } + [#""note":"\#(text(names))""#]
        return Data("{\(members.joined(separator: ","))}".utf8)
    }

    private static func text(_ names: [String]) -> String {
        names.map { "see /cb?\($0)=\(canary)&next=https://a.test, \($0)=\(canary) \($0): \(canary)" }
            .joined(separator: "\\n")
    }

    package static func call(_ names: [String], isForm: Bool, to path: RequestPath = "/me") -> Request<String> {
        let body: RequestContent =
            isForm ? .data(Data(pairs(names).utf8), type: .form) : .data(json(names), type: .json)
        return Request(
            .post, path, query: QueryItems(names.map { ($0, canary) }), body: body,
            headers: fields(names).merging(targets(names), replacing: true))
    }

    package static func response(_ names: [String], status: HTTPStatus) -> HTTPResponse {
        var headers = fields(names).merging(targets(names), replacing: true)
        headers[.contentType] = "application/json"
        headers[.location] = "/cb?\(pairs(names))&next=https://u:\(canary)@a.test/"
        headers[.link] = "</?\(pairs(names))>; rel=a, <//u:\(canary)@a.test/?\(pairs(names))>; rel=next"
        return HTTPResponse(
            status: status, headers: headers, body: ResponseBody(json(names)),
            reasonPhrase: "Bad \(names[0])=\(canary)")
    }

    package static func error(_ names: [String]) -> NetworkError {
        NetworkError(
            .badResponse, detail: text(names), underlying: NetworkError(.unreachable, detail: text(names.reversed())))
    }

    /// A server that refuses a form, redirects JSON to another origin, and loses a third request.
    package static func answer(_ names: [String], to request: HTTPRequest) throws -> HTTPResponse {
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/refused": return response(names, status: .badRequest)
        case "/moved":
            var moved = response(names, status: .found)
            moved.headers[.location] = "https://other.test/end?\(pairs(names))"
            return moved
        case "/end": return response(names, status: .ok)
        default: throw error(names)
        }
    }

    /// Sends a form that fails with a status, JSON that succeeds after a redirect, and a request that is lost.
    package static func send(_ names: [String], by client: APIClient) async -> [NetworkError] {
        var errors: [NetworkError] = []
        for (path, isForm) in [("/refused", true), ("/moved", false), ("/lost", false)] as [(RequestPath, Bool)] {
            do { try await client.send(call(names, isForm: isForm, to: path)) } catch { errors.append(error) }
        }
        return errors
    }
}
