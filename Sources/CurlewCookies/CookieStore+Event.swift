// SPDX-License-Identifier: MIT

public import CurlewCore

extension CookieStore {
    /// An event of the cookie jar: `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: FeatureEvent {
        /// A cookie of the response was rejected. Its name is as the server wrote it, at most 64 characters.
        case refused(Cookie.Refusal, name: String)

        /// One line: the name of the cookie and the reason.
        public var description: String {
            switch self {
            case .refused(let refusal, let name): "\(name): \(refusal)".printable
            }
        }
    }
}
