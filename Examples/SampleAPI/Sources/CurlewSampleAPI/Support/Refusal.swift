// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting

/// An error response that a handler throws: a status, and a body in the style of the area.
struct Refusal: Error {
    let response: MockResponse

    /// Creates a refusal with the body `{"message": …, "code": …}`. Without `code`, the body has only the message.
    init(_ status: HTTPStatus, _ message: String, code: String? = nil) {
        response = .json(Body(message: message, code: code), status: status)
    }

    /// Creates a refusal with any response.
    init(response: MockResponse) {
        self.response = response
    }

    /// Returns a refusal with problem details (RFC 9457).
    static func problem(_ status: HTTPStatus, _ detail: String) -> Refusal {
        Refusal(response: .problem(status, detail))
    }

    /// Returns a 401 that requests a bearer token (RFC 6750 §3).
    static func unauthorized(_ message: String) -> Refusal {
        let refusal = Refusal(.unauthorized, message)
        return Refusal(response: refusal.response.with(headers: [.wwwAuthenticate: "Bearer realm=\"sample\""]))
    }

    private struct Body: Encodable {
        let message: String
        let code: String?
    }
}

extension RecordedRequest {
    /// Returns the whole number in the query item `name`, or `standard` if there is no such item. Throws a 400 refusal
    /// if the value is not a whole number or is out of range.
    func number(_ name: String, from range: ClosedRange<Int>, orElse standard: Int) throws(Refusal) -> Int {
        guard let text = query[name] else { return standard }
        guard let number = Int(text), range.contains(number) else {
            let limits = "\(range.lowerBound) to \(range.upperBound)"
            throw Refusal(.badRequest, "\(name) must be a whole number from \(limits).", code: "bad_\(name)")
        }
        return number
    }

    /// Returns the whole number in a path parameter; `nil` if its value is not a whole number.
    func id(_ name: String = "id") -> Int? {
        parameters[name].flatMap { Int($0) }
    }
}
