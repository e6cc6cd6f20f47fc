// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Requests that are made already, by an app's older code or by another library.
extension APIClient {
    /// Sends a ready-made request through the client's pipeline and gives the answer, whatever its status.
    ///
    /// What goes out is the request: of the client it has the fields and query items that it does not name itself, if it
    /// goes to the client's origin. Its timeout and cache policy do not count; the client's timeouts do.
    ///
    /// Throws `NetworkError`, with `.invalidRequest` for what cannot be sent.
    @concurrent @discardableResult
    public func send(urlRequest: URLRequest) async throws(NetworkError) -> HTTPResponse {
        try await send(Request<HTTPResponse>(HTTPRequest(urlRequest), name: "URLRequest") { response, _ in response })
    }

    /// Sends a ready-made request through the client's pipeline, checks the status and gives the body.
    ///
    /// Throws `NetworkError`, with `.status` for what is no success.
    @concurrent
    public func data(for urlRequest: URLRequest) async throws(NetworkError) -> Data {
        try await send(
            Request<Data>(HTTPRequest(urlRequest), name: "URLRequest") { response, _ in
                try await response.data()
            })
    }
}
