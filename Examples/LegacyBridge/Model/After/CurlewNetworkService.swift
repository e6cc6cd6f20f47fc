// SPDX-License-Identifier: MIT

import Curlew

/// The first step: the old façade stays, and Curlew does the work behind it.
struct CurlewNetworkService: NetworkService {
    private let client: APIClient

    init(client: APIClient) {
        self.client = client
    }

    @discardableResult
    func perform<Value: Decodable & Sendable>(
        _ request: any RequestDescription, completion: @escaping @MainActor (Result<Value, ServiceError>) -> Void
    ) -> any NetworkTask {
        client.send(DescribedRoute(request: request).decoding(Value.self)) { result in
            completion(result.mapError { ServiceError($0) })
        }
    }
}

/// The handle is what the old layer called a task.
extension APIClient.RequestHandle: NetworkTask {}

/// A description of the old layer as a route. What cannot be sent, such as a path with `..`, becomes an error of the
/// call: never nil, and never a crash.
struct DescribedRoute: Route {
    let request: any RequestDescription

    var method: HTTPMethod { HTTPMethod(rawValue: request.verb) }
    var path: RequestPath { RequestPath(request.path) }
    /// Sorted, because a dictionary has another order in each run and a cache would see another URL.
    var query: QueryItems { QueryItems(request.parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }
    var name: String { "\(type(of: request))" }

    var content: RequestContent {
        guard let body = request.body else { return .none }
        return .json(body)
    }

    var headers: HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in request.additionalHeaders { headers[HTTPField.Name(name)] = value }
        return headers
    }

    var options: RequestOptions {
        var options = RequestOptions()
        options[NeedsToken.self] = request.needsToken
        return options
    }
}

extension ServiceError {
    /// The old cases for what Curlew says. Its own error knows more: see `Documentation/Errors.md`.
    init(_ error: NetworkError) {
        switch error.reason {
        case .cancelled: self = .cancelled
        // The refresh found no server, or one with a problem: the user is still signed in.
        case .notAuthenticated(.refreshFailed): self = .noConnection
        case .notAuthenticated: self = .unauthorized
        case .invalidRequest, .configuration, .encoding: self = .requestCannotBeBuilt
        case .decoding: self = .responseCannotBeParsed
        case .badResponse: self = .noData
        case .status(let status):
            switch status.code {
            case 401: self = .unauthorized
            case 403: self = .forbidden
            case 404: self = .notFound
            case 400...499: self = .client(status.code)
            case 500...599: self = .server(status.code)
            default: self = .responseCannotBeParsed
            }
        default: self = .noConnection
        }
    }
}
