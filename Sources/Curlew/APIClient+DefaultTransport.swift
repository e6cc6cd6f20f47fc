// SPDX-License-Identifier: MIT

public import CurlewCore

#if os(Linux)
import CurlewCurl

extension APIClient {
    /// A client over this platform's engine: on Linux libcurl, shared with the other clients of the process.
    ///
    ///     let client = APIClient(baseURL: "https://dummyjson.com")
    ///
    /// - `baseURL`: where paths begin. Nil for a client that only asks absolute URLs.
    /// - `pipeline`: default `.standard`; what it contains is listed there.
    /// - `configuration`: headers, codecs, timeouts and limits. How to connect (trust, protocol versions, connections
    ///   per host) is the transport's: make a `CurlTransport` of your own for that.
    ///
    /// Making a client opens nothing and never fails.
    public init(
        baseURL: BaseURL? = nil, pipeline: Pipeline = .standard,
        configuration: ClientConfiguration = ClientConfiguration()
    ) {
        self.init(
            baseURL: baseURL, pipeline: pipeline, transport: CurlTransport.shared, configuration: configuration)
    }
}
#endif
