// SPDX-License-Identifier: MIT

public import CurlewCore

extension CookieStore {
    /// An event of the cookie jar. Observers receive it as `ExchangeEvent.feature`.
    @nonexhaustive
    public enum Event: ExchangeEvent.Feature {
        /// A cookie from the response was rejected. `name` is the name that the server sent, clipped to 64 characters;
        /// empty if there is none.
        case refused(Cookie.Refusal, name: String)

        /// The name of the kind of event: `cookie.refused`.
        public var name: String {
            switch self {
            case .refused: "cookie.refused"
            }
        }

        /// One line: the name of the cookie and the reason.
        public var description: String {
            switch self {
            case .refused(let refusal, let name): "\(name): \(refusal)".printable
            }
        }
    }
}
