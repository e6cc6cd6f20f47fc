// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewAuthentication
@testable import CurlewCore

/// Signing in on another device (RFC 8628), and signing out for good (RFC 7009).
@Suite(.timeLimit(.minutes(1)))
struct OAuth2DeviceTests {
    private let oauth = OAuth2(
        clientID: "tool", tokenEndpoint: "https://id.test/token", scopes: ["read"],
        revocationEndpoint: "https://id.test/revoke")
    private static let tokens = HTTPResponse.json(text: #"{"access_token":"a","refresh_token":"r"}"#)

    private static func error(_ code: String) -> HTTPResponse {
        .json(text: #"{"error":"\#(code)"}"#, status: .badRequest)
    }

    private func client(_ answers: [HTTPResponse], _ mock: inout MockTransport?) -> APIClient {
        let rest = Locked(answers[...])
        let transport = MockTransport.answering { _ in rest.withLock { $0.popFirst() } ?? Self.error("invalid_request")
        }
        mock = transport
        return APIClient.testing(transport, baseURL: "https://api.test", pipeline: [.redirects()])
    }

    private func device(_ more: String = #","interval":5"#, lifetime: Int = 900) throws -> OAuth2.DeviceAuthorization {
        let text = #"""
            {"device_code":"d","user_code":"WDJB-MJHT","verification_uri":"https://id.test/device",
             "expires_in":\#(lifetime)\#(more)}
            """#
        return try JSONDecoder().decode(OAuth2.DeviceAuthorization.self, from: Data(text.utf8))
    }

    /// How a sign-in ends, how often the server was asked, and how long it took on the clock.
    private func poll(
        _ answers: [HTTPResponse], _ device: OAuth2.DeviceAuthorization
    ) async -> (Result<Tokens, NetworkError>, asked: Int, seconds: Int64) {
        var mock: MockTransport?
        let client = client(answers, &mock)
        let clock = ManualClock.skippingWaits
        let start = clock.now
        do throws(NetworkError) {
            let tokens = try await oauth.tokens(for: device, with: client, time: clock)
            return (.success(tokens), mock?.requestCount ?? 0, start.duration(to: clock.now).components.seconds)
        } catch {
            return (.failure(error), mock?.requestCount ?? 0, start.duration(to: clock.now).components.seconds)
        }
    }

    @Test("The device codes are requested, and read with the defaults of the RFC")
    func codes() async throws {
        var mock: MockTransport?
        let client = client(
            [
                .json(
                    text: #"""
                        {"device_code":"d","user_code":"U-1","verification_uri":"https://id.test/device",
                         "verification_uri_complete":"https://id.test/device?code=U-1","expires_in":1800}
                        """#)
            ], &mock)
        let device = try await client.send(oauth.deviceAuthorization(at: "https://id.test/codes"))
        #expect(device.userCode == "U-1" && device.verificationURL == "https://id.test/device")
        #expect(device.completeVerificationURL == "https://id.test/device?code=U-1")
        #expect(device.interval == .seconds(5) && device.lifetime == .seconds(1800))
        #expect(mock?.requests.first?.text == "scope=read&client_id=tool")
        #expect(mock?.requests.first?.request.urlString == "https://id.test/codes")
    }

    @Test("A server's numbers are clamped, and its texts reach no terminal as commands")
    func limits() throws {
        #expect(try device(#","interval":0"#).interval == .seconds(1))
        #expect(try device(#","interval":1e9"#, lifetime: 60).interval == .seconds(60))
        #expect(try device("", lifetime: 1_000_000_000).lifetime == .seconds(86_400))
        #expect(try device("", lifetime: -5).lifetime == .zero)
        for text in [#"\u001b[2J"#, #"\u000a"#, #"\u0009"#, ""] {
            #expect(throws: DecodingError.self) {
                let text = #"{"device_code":"d","user_code":"\#(text)","verification_uri":"u","expires_in":9}"#
                return try JSONDecoder().decode(OAuth2.DeviceAuthorization.self, from: Data(text.utf8))
            }
        }
    }

    @Test("Polling keeps to the interval until the user agrees, and slows down on request")
    func agreed() async throws {
        let pending = Self.error("authorization_pending")
        let (result, asked, seconds) = await poll(
            [pending, Self.error("slow_down"), pending, Self.tokens], try device())
        #expect(try result.get() == Tokens(accessToken: "a", refreshToken: "r"))
        #expect(asked == 4 && seconds == 5 + 5 + 10 + 10)
    }

    @Test("A failing server is polled half as often each time; a refusal ends the polling")
    func troubles() async throws {
        let down = HTTPResponse(status: .serviceUnavailable)
        let (result, asked, seconds) = await poll([down, down, Self.tokens], try device())
        #expect((try? result.get()) != nil && asked == 3 && seconds == 5 + 10 + 20)
        for (code, reason) in [
            ("access_denied", .notAuthenticated(.refused)), ("expired_token", .timedOut(.total)),
            ("invalid_client", .status(.badRequest)), ("invalid_grant", .status(.badRequest)),
        ] as [(String, NetworkError.Reason)] {
            let (result, asked, _) = await poll([Self.error(code), Self.tokens], try device())
            #expect(throws: NetworkError.self) { try result.get() }
            if case .failure(let error) = result { #expect(error.reason == reason, "\(code)") }
            #expect(asked == 1, "\(code)")
        }
    }

    @Test("Polling ends when the codes expire")
    func ended() async throws {
        let pending = [HTTPResponse](repeating: Self.error("authorization_pending"), count: 100)
        let (result, asked, seconds) = await poll(pending, try device(lifetime: 32))
        if case .failure(let error) = result { #expect(error.reason == .timedOut(.total)) }
        #expect(throws: NetworkError.self) { try result.get() }
        #expect(asked == 6 && seconds == 32)
    }

    @Test("Polling ends with its task")
    func cancelled() async throws {
        var mock: MockTransport?
        let client = client([], &mock)
        let (clock, device, oauth) = (ManualClock(), try device(), oauth)
        let work = Task { () -> NetworkError.Reason? in
            do throws(NetworkError) {
                _ = try await oauth.tokens(for: device, with: client, time: clock)
                return nil
            } catch { return error.reason }
        }
        try await clock.waitForSleepers(1)
        work.cancel()
        #expect(await work.value == .cancelled)
        #expect(mock?.requestCount == 0)
    }

    @Test("Signing out forgets the tokens whatever the server says, and revokes both")
    func revocation() async throws {
        for status in [HTTPStatus.ok, .serviceUnavailable] {
            var mock: MockTransport?
            let client = client([HTTPResponse(status: status), HTTPResponse(status: status)], &mock)
            let store = TokenStore()
            try await store.signIn(Tokens(accessToken: "a/1", refreshToken: "r1"))
            var failure: NetworkError?
            do throws(NetworkError) {
                try await store.signOut(revoking: oauth, with: client)
            } catch { failure = error }
            #expect(try await store.tokens == nil)
            #expect(failure?.reason == (status == .ok ? nil : .status(status)))
            let sent = try #require(mock).requests.map { $0.text }
            #expect(sent.first == "token=r1&token_type_hint=refresh_token&client_id=tool")
            if status == .ok { #expect(sent.last == "token=a%2F1&token_type_hint=access_token&client_id=tool") }
            #expect(sent.count == (status == .ok ? 2 : 1))
        }
    }

    @Test("A server that revokes no access tokens is accepted; one without the endpoint is not asked")
    func partial() async throws {
        var mock: MockTransport?
        let client = client([HTTPResponse(), Self.error("unsupported_token_type")], &mock)
        let store = TokenStore()
        try await store.signIn(Tokens(accessToken: "a", refreshToken: "r"))
        try await store.signOut(revoking: oauth, with: client)
        #expect(mock?.requestCount == 2)
        try await store.signIn(Tokens(accessToken: "a", refreshToken: "r"))
        let none = OAuth2(clientID: "a", tokenEndpoint: "https://id.test/token")
        try await store.signOut(revoking: none, with: client)
        #expect(mock?.requestCount == 2)
        let error = await client.failure(none.revocation(of: "r", .refresh))
        #expect(error?.reason == .configuration)
    }
}
