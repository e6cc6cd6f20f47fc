// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewFoundation
public import CurlewHTTP

/// Lets the user sign in on another device, for programs without a browser, such as command-line tools (RFC 8628).
///
///     let device = try await client.send(oauth.deviceAuthorization(at: "https://id.example.com/device"))
///     print("Open \(device.verificationURL) and enter \(device.userCode)")
///     try await store.signIn(try await oauth.tokens(for: device, with: client))
extension OAuth2 {
    /// The codes of a device sign-in (RFC 8628 §3.2): a code that the user enters, and a code with which the device
    /// polls.
    public struct DeviceAuthorization: Decodable, Hashable, Sendable {
        /// The code that the user enters on the page. Show it to the user.
        public let userCode: String
        /// The URL of the page that the user opens. Show it to the user.
        public let verificationURL: String
        /// The URL of the page with the code included, for a QR code or a link; nil if the server sends none.
        public let completeVerificationURL: String?
        /// The lifetime of the codes, at most a day.
        public let lifetime: Duration
        /// The interval between two polls, from 1 s up to `lifetime`. It is 5 s if the server specifies none.
        package let interval: Duration
        let deviceCode: String

        /// Decodes the server's response. Throws if a string is empty, is longer than 4096 bytes, or contains control
        /// characters, because a program may print it on the user's terminal.
        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Field.self)
            func text(_ field: Field) throws -> String {
                let text = try fields.decode(String.self, forKey: field)
                guard !text.isEmpty, text.utf8.count <= 4096, text == text.printable, !text.utf8.contains(9) else {
                    throw DecodingError.dataCorruptedError(
                        forKey: field, in: fields, debugDescription: "The value is empty, too long or not printable.")
                }
                return text
            }
            userCode = try text(.userCode)
            deviceCode = try text(.deviceCode)
            // Google's servers send the name from an early draft, `verification_url`.
            verificationURL = try text(fields.contains(.verification) ? .verification : .verificationOfDraft)
            completeVerificationURL = fields.contains(.complete) ? try text(.complete) : nil
            let seconds = try fields.decode(Double.self, forKey: .lifetime)
            lifetime = .seconds(min(max(0, seconds), 86_400))
            let interval = try fields.decodeIfPresent(Double.self, forKey: .interval) ?? 5
            self.interval = .seconds(max(1, min(interval, seconds, 86_400)))
        }

        private enum Field: String, CodingKey {
            case userCode = "user_code"
            case deviceCode = "device_code"
            case verification = "verification_uri"
            case verificationOfDraft = "verification_url"
            case complete = "verification_uri_complete"
            case lifetime = "expires_in"
            case interval
        }
    }

    /// Returns the request for the codes of a sign-in on another device (RFC 8628 §3.1).
    ///
    /// - `endpoint`: the server's device authorization endpoint. The rules of `tokenEndpoint` apply.
    public func deviceAuthorization(at endpoint: String) -> Request<DeviceAuthorization> {
        var fields: QueryItems = [:]
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        return request(to: endpoint, fields, name: "OAuth2.device") { response, _ in
            try await response.decoded(as: DeviceAuthorization.self, using: .json)
        }
    }

    /// Waits until the user has approved the sign-in on the other device, and returns the tokens (RFC 8628 §3.4, §3.5).
    /// Call it as soon as the codes have arrived.
    ///
    /// The function polls the token endpoint at the server's interval. The interval increases by 5 s each time the
    /// server sends `slow_down`, and doubles after each missing response, 429 and 5xx. The wait ends when the task is
    /// cancelled, or when the codes' `lifetime` has passed since the function was called.
    ///
    /// - `time`: the time source for the waits.
    ///
    /// Throws `NetworkError`: `.notAuthenticated(.refused)` if the user or the server declined, `.timedOut(.total)` if
    /// the codes have expired, `.cancelled`, and any other error that the token endpoint reports.
    public func tokens(
        for device: DeviceAuthorization, with client: APIClient, time: any TimeSource = SystemTime()
    ) async throws(NetworkError) -> Tokens {
        let request = request([
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device.deviceCode,
        ])
        let end = time.now.advanced(by: device.lifetime)
        var interval = device.interval
        while true {
            let next = time.now.advanced(by: interval)
            do { try await time.sleep(until: min(next, end)) } catch { throw NetworkError(error) }
            guard time.now < end else { throw Self.ended(after: device.lifetime) }
            do throws(NetworkError) {
                return try await client.send(request)
            } catch {
                switch error.oauthCode {
                case "authorization_pending": break
                case "slow_down": interval += .seconds(5)
                case "expired_token": throw Self.ended(after: device.lifetime)
                case "access_denied":
                    throw NetworkError(
                        .notAuthenticated(.refused), detail: "The user declined on the other device.",
                        underlying: error)
                case .some: throw error
                case nil:
                    guard error.isPassing else { throw error }
                    interval = min(interval * 2, device.lifetime)
                }
            }
        }
    }

    private static func ended(after lifetime: Duration) -> NetworkError {
        NetworkError(
            .timedOut(.total),
            detail: "The user did not approve on the other device before the code expired (\(lifetime.brief)).",
            hint: "Request a new code.")
    }
}

extension NetworkError {
    /// Whether the error is temporary and does not concern the codes: the server did not respond, or is overloaded or
    /// failing.
    fileprivate var isPassing: Bool {
        switch reason {
        case .unreachable, .timedOut, .connectionLost: true
        case .status(let status): status.code == 429 || status.code >= 500
        default: false
        }
    }
}

extension OAuth2.DeviceAuthorization: MirroredByDescription {
    /// The user code and the URL of the page. The description never contains the device code.
    public var description: String { "DeviceAuthorization(\(userCode) at \(verificationURL))" }
}
