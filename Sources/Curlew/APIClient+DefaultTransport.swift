// SPDX-License-Identifier: MIT

public import CurlewCore

#if os(Linux)
import CurlewCurl
#elseif canImport(Darwin)
import CurlewURLSession
#endif

extension APIClient {
    /// A client over this platform's engine, shared with the other clients of the process: on Linux libcurl, on Apple
    /// platforms URLSession.
    ///
    ///     let client = APIClient(baseURL: "https://dummyjson.com")
    ///
    /// - `baseURL`: where paths begin. Nil for a client that only asks absolute URLs.
    /// - `pipeline`: default `.standard`; what it contains is listed there.
    /// - `configuration`: headers, codecs, timeouts and limits. How to connect (trust, protocol versions, connections
    ///   per host) is the transport's: make a `CurlTransport` or `URLSessionTransport` of your own for that.
    ///
    /// Making a client opens nothing and never fails.
    public init(
        baseURL: BaseURL? = nil, pipeline: Pipeline = .standard,
        configuration: ClientConfiguration = ClientConfiguration()
    ) {
        #if os(Linux)
        let transport: any Transport = CurlTransport.shared
        #else
        let transport: any Transport = URLSessionTransport.shared
        #endif
        self.init(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }
}
