// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// What a transfer has to do. Never changes. The calling task computes it, because one loop thread serves all callers.
struct TransferPlan {
    let request: HTTPRequest
    let context: ExchangeContext
    let upload: (any Upload)?
    /// The upload, if it waits for a 100 response.
    let expectation: ExpectingUpload?
    /// Keeps the transport, and with it the event loop, alive while a body is read.
    let owner: CurlTransport
    let url: String
    let streams: Bool
    /// Whether the transport decodes the content codings of the response, if it supports all of them.
    let decodesContent: Bool
    /// Whether libcurl may send a request again by itself although the first may have arrived.
    let mayRepeat: Bool
    let bodyLimit: Int64
    /// Whether the transfer must use a new connection.
    let opensConnection: Bool

    init(
        request: HTTPRequest, context: ExchangeContext, upload: (any Upload)?, opensConnection: Bool,
        owner: CurlTransport
    ) {
        self.request = request
        self.context = context
        self.upload = upload
        self.owner = owner
        self.opensConnection = opensConnection
        expectation = upload as? ExpectingUpload
        url = request.urlString
        let options = context.options
        streams = options.streaming == true
        decodesContent = options.skipsContentDecoding != true
        mayRepeat = context.mayRepeat(request)
        bodyLimit = context.limits.responseBody
    }
}
#endif
