// SPDX-License-Identifier: MIT

#if os(Linux)
import CCurl
import CurlewCore
import CurlewHTTP

/// Sends the trailers of a request. libcurl sends them in the last chunk of HTTP/1.1, and does not send them over
/// HTTP/2.
///
/// The handle must be discarded after its transfer: libcurl 7.88 does not reset its trailer state, and writes the next
/// chunked body to memory before its buffer.
extension EasyHandle {
    func setTrailers(of transfer: Transfer) {
        guard transfer.plan.request.body.trailers != nil else { return }
        check(curlew_set_trailer_callback(pointer, CURLOPT_TRAILERFUNCTION, giveTrailers))
        setPointer(CURLOPT_TRAILERDATA, context)
    }
}

extension Transfer {
    /// The value of the `Trailer` field; nil if the request has no trailers.
    var announcedTrailers: String? {
        plan.request.body.trailers.map { $0.names.map(\.text).joined(separator: ", ") }
    }
}

extension TransportConfiguration {
    /// Returns why `request` cannot be sent with its trailers, or nil if it can or has none.
    func trailerProblem(of request: HTTPRequest) -> String? {
        guard request.body.trailers != nil else { return nil }
        let isFirstVersion = httpVersions == .http1Only || (httpVersions == .automatic && !request.origin.isSecure)
        return isFirstVersion
            ? nil
            : "libcurl sends trailers over HTTP/1.1 only: set TransportConfiguration.httpVersions to .http1Only."
    }
}

/// Adds the trailers of the request. libcurl calls this function when the body has been sent.
private func giveTrailers(
    _ list: UnsafeMutablePointer<UnsafeMutablePointer<curl_slist>?>?, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let list, let fields = withTransfer(context, otherwise: nil, { $0.plan.upload?.trailers ?? [:] }) else {
        return Int32(CURL_TRAILERFUNC_ABORT)
    }
    for field in fields {
        guard let longer = curl_slist_append(list.pointee, "\(field.name.text): \(field.value)") else {
            // libcurl frees the fields that were already added.
            return Int32(CURL_TRAILERFUNC_ABORT)
        }
        list.pointee = longer
    }
    return Int32(CURL_TRAILERFUNC_OK)
}
#endif
