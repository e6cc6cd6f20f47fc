// SPDX-License-Identifier: MIT

#if os(Linux)
import CurlewCore
import CurlewHTTP

/// The constant properties of a transfer. The calling task computes them, because one event loop serves many callers.
struct TransferPlan {
    let request: HTTPRequest
    let context: ExchangeContext
    let upload: (any Upload)?
    /// The upload, if it waits for a 100 response; otherwise nil.
    let expectation: ExpectingUpload?
    /// The upload, if the request asks to switch to another protocol; otherwise nil.
    let upgrade: UpgradeUpload?
    /// The transport. The reference keeps it and its event loops alive while a body is read.
    let owner: CurlTransport
    let url: String
    let streams: Bool
    /// Whether the transport decodes the content codings of the response, if it supports all of them.
    let decodesContent: Bool
    /// Whether libcurl may repeat the request although it may have arrived the first time.
    let mayRepeat: Bool
    let bodyLimit: Int64
    /// Whether the transfer must use a new connection.
    let opensConnection: Bool
    /// Whether the transfer uses the transport's own connections instead of libcurl.
    let isDirect: Bool

    init(
        request: HTTPRequest, context: ExchangeContext, upload: (any Upload)?, opensConnection: Bool,
        isDirect: Bool, owner: CurlTransport
    ) {
        self.upload = upload
        self.owner = owner
        self.opensConnection = opensConnection
        self.isDirect = isDirect
        expectation = upload as? ExpectingUpload
        upgrade = upload as? UpgradeUpload
        url = request.urlString
        streams = context.streams
        decodesContent = context.decodesContent
        mayRepeat = context.mayRepeat(request)
        bodyLimit = context.limits.responseBody
        // Last, so that they are not copied.
        self.request = request
        self.context = context
    }
}
#endif
