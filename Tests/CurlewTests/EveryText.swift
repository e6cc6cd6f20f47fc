// SPDX-License-Identifier: MIT

@testable import CurlewCaching
@testable import CurlewCore
@testable import CurlewRecording

/// All the ways in which people write a value down, in one text.
func everyText(of value: Any) -> String {
    var text = "\(value)\n" + String(reflecting: value) + "\n" + String(describing: value) + "\n"
    print(value, to: &text)
    debugPrint(value, to: &text)
    dump(value, to: &text)
    print([value], ["key": value], Optional.some(value) as Any, to: &text)
    dump([value], to: &text)
    return text
}

/// The ways that differ from each other, for values that are written down hundreds of times.
private func distinctTexts(of value: Any) -> String {
    var text = "\(value)\n" + String(reflecting: value) + "\n"
    dump(value, to: &text)
    return text
}

/// Records all that an observer and a log of a client receive.
final class EveryTextObserver: RequestObserver {
    private let lines = Locked<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func write(_ value: Any) {
        let line = distinctTexts(of: value)
        lines.withLock { $0.append(line) }
    }

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        write(event)
        write(context)
        switch event {
        case .began(let request), .sent(let request):
            write(request)
            write(request.headers)
            request.headers.forEach(write)
            write(request.body)
            write(request.curlCommand())
        case .answered(let response), .succeeded(let response, _): write(response: response)
        case .feature(let event as RedirectPolicy.Event):
            switch event {
            case .kept(let response, _): write(response: response)
            case .followed(let redirect): write(redirect)
            }
        case .feature(let event as HTTPCache.Event):
            if case .storeFailed(let error) = event { write(error: error) }
        case .failed(let error, _), .attemptFailed(let error): write(error: error)
        case .interim(_, let headers), .trailers(let headers):
            write(headers)
            headers.forEach(write)
        default: break
        }
    }

    private func write(response: HTTPResponse) {
        write(response)
        write(response.headers)
        response.headers.forEach(write)
        response.redirects.forEach(write)
    }

    /// An error with all that it shows of itself, and what its request and its response do.
    func write(error: NetworkError?) {
        guard let error else { return }
        write(error)
        write(error.detail)
        write(error.hint as Any)
        write(error.request as Any)
        write(error.response as Any)
        if let answer = error.response {
            write(answer.headers)
            answer.headers.forEach(write)
            write(answer.excerpt(without: error.secrets) as Any)
        }
        error.attempts.forEach(write)
        write(error.message)
    }
}
