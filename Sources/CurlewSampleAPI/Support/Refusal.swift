// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

/// An error response: a status, and a body in the style of the area.
struct Refusal: Error {
    let response: MockResponse

    /// `{"message": …, "code": …}`; the code is optional.
    init(_ status: HTTPStatus, _ message: String, code: String? = nil) {
        response = .json(Body(message: message, code: code), status: status)
    }

    /// Any response.
    init(response: MockResponse) {
        self.response = response
    }

    /// Problem details (RFC 9457).
    static func problem(_ status: HTTPStatus, _ detail: String) -> Refusal {
        Refusal(response: .problem(status, detail))
    }

    /// A 401 that requests a bearer token (RFC 6750 §3).
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
    /// Returns the whole number in a query item. Throws a refusal if it is something else or out of range.
    func number(_ name: String, from range: ClosedRange<Int>, orElse standard: Int) throws(Refusal) -> Int {
        guard let text = query(name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            let limits = "\(range.lowerBound) to \(range.upperBound)"
            throw Refusal(.badRequest, "\(name) must be a whole number from \(limits).", code: "bad_\(name)")
        }
        return number
    }

    /// Returns the whole number in a path parameter; `nil` if it is not one.
    func id(_ name: String = "id") -> Int? {
        parameters[name].flatMap { Int($0) }
    }
}
