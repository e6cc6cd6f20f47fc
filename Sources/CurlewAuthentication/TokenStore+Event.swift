// SPDX-License-Identifier: MIT

public import CurlewCore

extension TokenStore {
    /// An event of a token store's refresh. Observers receive it as `ExchangeEvent.feature`, for the call that started
    /// the refresh. The requests of the refresh are separate calls with their own events.
    ///
    /// A refresh may continue after the call that started it, so the event may follow the end of the call.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// The refresh began.
        case began
        /// New tokens arrived after this duration.
        case renewed(after: Duration)
        /// The refresh failed with this error, after this duration.
        case failed(NetworkError, after: Duration)

        /// The name of the kind of event: `token.began`, `token.renewed` or `token.failed`.
        public var name: String {
            switch self {
            case .began: "token.began"
            case .renewed: "token.renewed"
            case .failed: "token.failed"
            }
        }

        /// A description on one line. It contains no token.
        public var description: String {
            switch self {
            case .began: "a refresh of the tokens began"
            case .renewed(let time): "the tokens were refreshed in \(time.brief)"
            case .failed(let error, let time): "the refresh of the tokens failed after \(time.brief): \(error.label)"
            }
        }
    }
}
