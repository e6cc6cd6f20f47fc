// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What follows from the response to one request of an exporter (OTLP 1.9.0, OTLP/HTTP Response).
enum OTLPResponse: Equatable {
    /// The collector accepted the data, except for this number of items. `message` is its explanation.
    case accepted(rejected: Int, message: String)
    /// The request may be sent again, after this wait if the collector specified one.
    case retry(after: Duration?, cause: String)
    /// The data must be dropped.
    case refused(String)

    /// Reads a status, the fields and the first bytes of the body.
    init(_ status: HTTPStatus, _ headers: HTTPHeaders, _ body: Data, now: Date) {
        switch status.code {
        case 200..<300:
            let partial = (try? JSONDecoder().decode(Answer.self, from: body))?.partialSuccess
            let rejected = partial?.rejectedSpans ?? partial?.rejectedDataPoints
            self = .accepted(
                rejected: max(0, rejected?.value ?? 0),
                message: (partial?.errorMessage ?? "").clipped(to: 300).printable)
        case 429, 502, 503, 504:
            let wait = headers[.retryAfter].flatMap { RetryAfter($0) }?.delay(now: now)
            self = .retry(after: wait, cause: "status \(status.code)")
        default: self = .refused("status \(status.code)")
        }
    }

    /// Reads an error. Failures of a connection may be temporary.
    init(_ error: NetworkError) {
        switch error.reason {
        case .unreachable, .connectionLost, .timedOut: self = .retry(after: nil, cause: error.label)
        default: self = .refused(error.label)
        }
    }

    private struct Answer: Decodable {
        let partialSuccess: PartialSuccess?
    }

    /// A member that has another type than the protocol says does not hide the others.
    private struct PartialSuccess: Decodable {
        let rejectedSpans: Count?
        let rejectedDataPoints: Count?
        let errorMessage: String?

        private enum CodingKeys: String, CodingKey {
            case rejectedSpans, rejectedDataPoints, errorMessage
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            rejectedSpans = try? values.decode(Count.self, forKey: .rejectedSpans)
            rejectedDataPoints = try? values.decode(Count.self, forKey: .rejectedDataPoints)
            errorMessage = try? values.decode(String.self, forKey: .errorMessage)
        }
    }

    /// A 64-bit number, which JSON of Protobuf writes as text, and some collectors as a number.
    private struct Count: Decodable {
        let value: Int

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            value = try (try? container.decode(Int.self)) ?? Int(container.decode(String.self)) ?? 0
        }
    }
}
