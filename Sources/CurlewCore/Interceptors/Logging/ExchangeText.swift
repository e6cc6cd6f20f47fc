// SPDX-License-Identifier: MIT

import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Requests, responses and failures as lines of text: redacted, bounded, safe for a terminal.
struct ExchangeText: Sendable {
    let level: LoggingInterceptor.Level
    let redaction: Redaction
    let bodyLimit: Int

    func lines(of request: HTTPRequest, in context: ExchangeContext) -> [String] {
        let name = context.routeName.isEmpty ? "" : " (\(context.routeName))"
        let attempt = context.attempt == 1 ? "" : ", attempt \(context.attempt)"
        let line = "\(RequestLine(request))\(name)\(attempt)"
        let body = request.body.isEmpty ? [] : content(request.body.data, request.headers, "\(request.body)")
        return safe([line] + fields(request.headers) + body)
    }

    func lines(of response: HTTPResponse, after time: Duration) -> [String] {
        let data = response.body.bufferedData
        let line = "\(response.status) in \(time.brief), \(data.map { "\($0.count) bytes" } ?? "\(response.body)")"
        let body = data?.isEmpty == true ? [] : content(data, response.headers, "streamed")
        return safe([line] + fields(response.headers) + body)
    }

    func lines(of error: NetworkError, after time: Duration) -> [String] {
        let detail = redaction.bodyText(error.detail, mediaType: nil).clipped(to: 300)
        return safe(["\(error.label) after \(time.brief)" + (detail.isEmpty ? "" : ": \(detail.joinedLines)")])
    }

    private func fields(_ headers: HTTPHeaders) -> [String] {
        guard level >= .headers else { return [] }
        return headers.map { "\($0.name): \(redaction.value($0.value, ofHeader: $0.name))" }
    }

    /// The lines of a body, or one that says why there are none.
    private func content(_ data: Data?, _ headers: HTTPHeaders, _ absent: String) -> [String] {
        guard level >= .body else { return [] }
        guard let data else { return ["(\(absent), not shown)"] }
        let type = headers[.contentType].flatMap { MediaType($0) }
        guard let text = redaction.shownBody(data, mediaType: type, limit: bodyLimit, clips: true) else {
            return ["(\(data.count) bytes of \(type?.essence ?? "an unknown type"), not shown)"]
        }
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    }

    /// What a server wrote must not move the cursor of a terminal or begin a line that looks like another entry.
    private func safe(_ lines: [String]) -> [String] {
        lines.map { line in
            guard line.unicodeScalars.contains(where: Self.isControl) else { return line }
            return line.unicodeScalars.reduce(into: "") { text, scalar in
                text += Self.isControl(scalar) ? scalar.escaped(asASCII: true) : String(scalar)
            }
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 && scalar != "\t" || (0x7F...0x9F).contains(scalar.value)
            || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}

extension String {
    /// The text on one line, runs of white space as one space.
    var joinedLines: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
