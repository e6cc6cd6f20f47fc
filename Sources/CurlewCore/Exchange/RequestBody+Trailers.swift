// SPDX-License-Identifier: MIT

public import CurlewHTTP

extension RequestBody {
    /// The trailer fields of a body, which are created when the body has been produced, and are sent after it.
    package struct Trailers: Sendable {
        /// The names of the trailer fields, which the `Trailer` field announces.
        package let names: [HTTPField.Name]
        private let make: @Sendable () async throws -> HTTPHeaders

        init(_ names: [HTTPField.Name], _ make: @escaping @Sendable () async throws -> HTTPHeaders) {
            self.names = names
            self.make = make
        }

        /// Creates and checks the fields. Throws `NetworkError` with reason `.encoding` if the fields cannot be
        /// created, are invalid or were not announced.
        package func fields() async throws(NetworkError) -> HTTPHeaders {
            let fields: HTTPHeaders
            do {
                fields = try await make()
            } catch {
                throw NetworkError(.encoding, detail: "The trailers could not be created: \(error)", underlying: error)
            }
            if let problem = fields.problem { throw NetworkError(.encoding, detail: problem.message) }
            if let field = fields.first(where: { !names.contains($0.name) }) {
                throw NetworkError(
                    .encoding, detail: "The trailer \(field.name.text.printable) was not declared.",
                    hint: "Declare it in trailing(_:fields:).")
            }
            return fields
        }
    }

    /// Returns this body with trailers: fields that are known only when the body has been produced, such as a checksum.
    ///
    /// `names` are announced in the `Trailer` field (RFC 9110 §6.6.2). `fields` is called when the stream has ended,
    /// each time that the body is sent. It returns fields with these names, not necessarily all of them.
    ///
    /// - Only a stream without a declared length can have trailers. Any other body is rejected with `.invalidRequest`.
    /// - Trailers are sent over HTTP/1.1 only: with `CurlTransport` for http, and for https if
    ///   `TransportConfiguration.httpVersions` is `.http1Only`. Any other call throws `.configuration`.
    ///   `URLSessionTransport` always throws `.configuration`.
    /// - A field that the receiver needs before the content, such as `Content-Type` or `Authorization`, is rejected
    ///   with `.invalidRequest` (RFC 9110 §6.5.1).
    /// - A field that was not announced ends the call with `.encoding`.
    ///
    /// Servers and proxies may drop trailers. The content must be complete without them.
    public func trailing(
        _ names: HTTPField.Name..., fields: @escaping @Sendable () async throws -> HTTPHeaders
    ) -> RequestBody {
        var body = self
        body.trailers = Trailers(names, fields)
        return body
    }

    /// The reason why no transport can send the trailers; nil if they can be sent or if there are none.
    var trailerProblem: String? {
        guard let trailers else { return nil }
        guard case .stream(nil, _, _) = kind else {
            return "Only a stream without a declared length can have trailers."
        }
        guard !trailers.names.isEmpty else { return "The body has trailers but declares no name." }
        guard let name = trailers.names.first(where: { !$0.isValid || !$0.mayTrail }) else { return nil }
        return "A field named \(name.text.printable) cannot be a trailer (RFC 9110 §6.5.1)."
    }
}
