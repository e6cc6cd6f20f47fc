// SPDX-License-Identifier: MIT

import CurlewHTTP

extension APIClient.Core {
    /// Checks the status of the response to a typed call, and decodes the response.
    func decode<E: Endpoint>(_ response: HTTPResponse, to endpoint: E, _ call: Call) async throws -> E.Response {
        let isRaw = E.Response.self == HTTPResponse.self
        if !isRaw, !response.status.isSuccess || response.body.value != nil {
            return try await decodeSpecial(response, to: endpoint, call)
        }
        do {
            return try await endpoint.decode(response, using: call.context.codecs)
        } catch {
            throw isRaw ? error : explained(error, response, call)
        }
    }

    /// Decodes a response that is no success, or whose value is at hand. A function of its own, so that other calls
    /// allocate no memory for its optional values.
    private func decodeSpecial<E: Endpoint>(
        _ response: HTTPResponse, to endpoint: E, _ call: Call
    ) async throws -> E.Response {
        if !response.status.isSuccess, let absent = try await check(response, call, E.Response.self) { return absent }
        if let ready = response.body.value, let value = ready as? E.Response { return value }
        do {
            return try await endpoint.decode(response, using: call.context.codecs)
        } catch {
            throw explained(error, response, call)
        }
    }

    /// Throws `.status` unless the status is a success or the call accepts it. For a 404 or 410 that the call decodes
    /// as nil, returns the nil value of `type`, which must be an Optional. Otherwise returns nil: the response must be
    /// decoded.
    func check<Value>(_ response: HTTPResponse, _ call: Call, _ type: Value.Type) async throws -> Value? {
        let status = response.status
        if status.isSuccess { return nil }
        let options = call.context.options
        if options.acceptedStatuses.contains(status) { return nil }
        if options.decodesNotFoundAsNil == true, status == .notFound || status == .gone,
            let absent = absentValue(of: type)
        {
            response.body.cancel()
            return absent
        }
        throw try await statusError(response, call)
    }

    /// Returns the error for a status, with the first bytes of the body, up to `Limits.errorExcerpt`. If the body
    /// breaks off, the error has the part that arrived.
    private func statusError(_ response: HTTPResponse, _ call: Call) async throws -> NetworkError {
        let limit = call.context.limits.errorExcerpt
        var excerpt = NetworkError.Response.Excerpt(limit: limit)
        do {
            for try await chunk in response.body where !excerpt.append(chunk) { break }
        } catch {
            if Task.isCancelled { throw NetworkError(.cancelled) }
        }
        response.body.cancel()
        var failure = NetworkError(
            .status(response.status), response: response.errorResponse(excerpt, in: call.context))
        failure.hint = hint(for: response, call)
        failure.attempts = response.attempts
        return failure
    }

    /// Returns the error for a decoding failure, with the response and the part of its body that is in memory, up to
    /// `Limits.errorExcerpt`.
    private func explained(_ error: any Error, _ response: HTTPResponse, _ call: Call) -> NetworkError {
        var failure = NetworkError(error)
        if failure.attempts.isEmpty { failure.attempts = response.attempts }
        guard failure.response != nil || failure.reason == .decoding else { return failure }
        let body = failure.response?.body ?? response.body.bufferedData
        failure.response = response.errorResponse(body, in: call.context)
        return failure
    }
}
