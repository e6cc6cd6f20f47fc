// SPDX-License-Identifier: MIT

import CurlewHTTP
import CurlewTesting

/// Why a call is not served: a status, and the body that explains it in the manner of the area.
struct Refusal: Error {
    let response: MockResponse

    /// `{"message": …, "code": …}`, the second only if there is one.
    init(_ status: HTTPStatus, _ message: String, code: String? = nil) {
        response = .json(Body(message: message, code: code), status: status)
    }

    /// Any answer.
    init(response: MockResponse) {
        self.response = response
    }

    /// Problem details (RFC 9457).
    static func problem(_ status: HTTPStatus, _ detail: String) -> Refusal {
        Refusal(response: .problem(status, detail))
    }

    /// 401 that asks for a bearer token (RFC 6750 §3).
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
    /// The whole number in a query item. Throws a refusal if it is something else or out of the range.
    func number(_ name: String, from range: ClosedRange<Int>, orElse standard: Int) throws(Refusal) -> Int {
        guard let text = query(name) else { return standard }
        guard let number = Int(text), range.contains(number) else {
            let limits = "\(range.lowerBound) to \(range.upperBound)"
            throw Refusal(.badRequest, "\(name) is a whole number from \(limits).", code: "bad_\(name)")
        }
        return number
    }

    /// The whole number that stands for a path parameter; `nil` if it is none.
    func id(_ name: String = "id") -> Int? {
        parameters[name].flatMap { Int($0) }
    }
}
