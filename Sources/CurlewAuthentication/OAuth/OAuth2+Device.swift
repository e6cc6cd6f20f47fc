// SPDX-License-Identifier: MIT

public import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Signs in on another device, for programs without a browser, such as command-line tools (RFC 8628).
///
///     let device = try await client.send(oauth.deviceAuthorization(at: "https://id.example.com/device"))
///     print("Open \(device.verificationURL) and enter \(device.userCode)")
///     try await store.signIn(try await oauth.tokens(for: device, with: client))
extension OAuth2 {
    /// The codes of a device sign-in: what the user is shown, and what the device polls with (RFC 8628 §3.2).
    public struct DeviceAuthorization: Decodable, Hashable, Sendable {
        /// The code that the user enters. To be shown.
        public let userCode: String
        /// The page that the user opens. To be shown.
        public let verificationURL: String
        /// The page with the code in the URL, for a QR code or a link; nil if the server has none.
        public let completeVerificationURL: String?
        /// How long the codes are valid, at most a day.
        public let lifetime: Duration
        /// The interval between two polls, 5 s if the server does not specify it. Between 1 s and `lifetime`.
        public let interval: Duration
        let deviceCode: String

        /// Decodes the server's response. Texts with control characters, which would reach the user's terminal, are
        /// refused.
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
            // Google's servers use the name of a draft.
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
    /// - `endpoint`: the server's device authorization endpoint, under the same rules as `tokenEndpoint`.
    public func deviceAuthorization(at endpoint: String) -> Request<DeviceAuthorization> {
        var fields: QueryItems = [:]
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        return request(to: endpoint, fields, name: "OAuth2.device") { response, _ in
            try await response.decoded(as: DeviceAuthorization.self, using: .json)
        }
    }

    /// Waits until the user has approved on the other device (RFC 8628 §3.4, §3.5). Call it as soon as the codes have
    /// arrived.
    ///
    /// It polls at the server's interval, adds 5 s each time the server sends `slow_down`, and doubles the interval
    /// after each missing response, 429 and 5xx. It ends with the codes' `lifetime`, counted from the call, and with
    /// the task.
    ///
    /// - `time`: the time source for the waits.
    ///
    /// Throws `NetworkError`: `.notAuthenticated(.refused)` if the user or the server declined, `.timedOut(.total)` if
    /// the codes have expired, `.cancelled`, and any other error of the token endpoint.
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
    /// Whether the error indicates nothing about the codes: the server did not respond, or cannot at present.
    fileprivate var isPassing: Bool {
        switch reason {
        case .unreachable, .timedOut, .connectionLost: true
        case .status(let status): status.code == 429 || status.code >= 500
        default: false
        }
    }
}

extension OAuth2.DeviceAuthorization: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// What the user is shown. Never the device's secret.
    public var description: String { "DeviceAuthorization(\(userCode) at \(verificationURL))" }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// Contains only `description`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
