// SPDX-License-Identifier: MIT

import Testing

@testable import CurlewCurl

/// Pinned keys against a real server.
@Suite(.timeLimit(.minutes(1)))
struct PinningTests {
    static let others = ["a", "b"].map { "sha256//" + MessageDigest.sha256(Data($0.utf8)).base64EncodedString() }
    static let day: Double = 86_400

    static func listener() -> EventLog<ExchangeEvent.Warning> {
        EventLog { event, _ in if case .warned(let warning) = event { warning } else { nil } }
    }

    private func transport(_ nginx: Nginx, _ pins: [TransportConfiguration.TLS.PinSet]) -> CurlTransport {
        var configuration = nginx.configuration
        configuration.tls.pins = pins
        return CurlTransport(configuration: configuration)
    }

    private func serverKey(_ nginx: Nginx) throws -> String {
        let certificate = try Data(contentsOf: URL(fileURLWithPath: nginx.certificates.certificate(.valid)))
        return try #require(TransportConfiguration.TLS.PinSet.key(ofCertificate: certificate))
    }

    @Test("The pin of a certificate is what openssl computes, from PEM and from DER")
    func pin() async throws {
        let nginx = try await Nginx.shared()
        let script = """
            openssl x509 -in valid.pem -pubkey -noout | openssl pkey -pubin -outform der \
            | openssl dgst -sha256 -binary | openssl base64 -A
            """
        let folder = nginx.certificates.folder
        let (pin, der) = try await onThread {
            let pin = try Program.run("/bin/sh", ["-c", script], in: folder)
            return (pin, try Program.run("/bin/sh", ["-c", "openssl x509 -in valid.pem -outform der"], in: folder))
        }
        let expected = String(decoding: pin, as: UTF8.self)
        #expect(try serverKey(nginx) == "sha256//" + expected)
        #expect(TransportConfiguration.TLS.PinSet.key(ofCertificate: der) == "sha256//" + expected)
        for length in 0..<der.count {
            #expect(TransportConfiguration.TLS.PinSet.key(ofCertificate: der.prefix(length)) == nil)
        }
        // Wrong bytes make another pin or none, and never read beyond the certificate.
        for index in 0..<der.count {
            var broken = der
            broken[index] ^= 0xFF
            _ = TransportConfiguration.TLS.PinSet.key(ofCertificate: broken)
        }
    }

    @Test("A report-only set notifies observers of each new connection, and lets the call continue")
    func reportOnly() async throws {
        let nginx = try await Nginx.shared()
        let listener = Self.listener()
        let transport = transport(
            nginx, [TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: Self.others, mode: .reportOnly)])
        for _ in 0..<3 {
            let response = try await transport.exchange(.get, nginx.secure() + "/body.bin", observers: [listener])
            #expect(try await response.bytes().count == 3_000_000)
        }
        _ = try await transport.exchange(
            .get, nginx.secure(host: "127.0.0.1") + "/empty", observers: [listener])
        let warning = ExchangeEvent.Warning.pinMismatch(host: "localhost", found: try serverKey(nginx))
        #expect(await eventually { listener.entries == [warning] })
    }

    @Test("A report-only set is silent when the key is pinned")
    func reportNothing() async throws {
        let nginx = try await Nginx.shared()
        let listener = Self.listener()
        let keys = [try serverKey(nginx)] + Self.others
        _ = try await transport(
            nginx, [TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: keys, mode: .reportOnly)]
        )
        .exchange(.get, nginx.secure() + "/empty", observers: [listener])
        #expect(listener.entries.isEmpty)
    }

    @Test(
        "Pins are enforced until they expire, with a warning before and after",
        arguments: [(31, false, false), (29, false, true), (0, true, true), (-1, true, true)],
        CurlLibrary.current.pathProblem == nil
            ? [TransportConfiguration.TLS.PinSet.Scope.serverCertificate, .verifiedChain] : [.serverCertificate])
    func expiry(
        course: (daysLeft: Double, isReached: Bool, warns: Bool), scope: TransportConfiguration.TLS.PinSet.Scope
    )
        async throws
    {
        let nginx = try await Nginx.shared()
        let listener = Self.listener()
        let clock = ManualClock()
        let expires = clock.date.addingTimeInterval(course.daysLeft * Self.day)
        let pins = TransportConfiguration.TLS.PinSet(
            hosts: ["localhost"], keys: Self.others, scope: scope, expires: expires)
        let transport = transport(nginx, [pins])
        let context = ExchangeContext(observers: [listener], time: clock)
        let request = try HTTPRequest(.get, url: nginx.secure() + "/empty")
        let result = await outcome(Task { try await transport.send(request, in: context) })
        await context.eventsDelivered()
        #expect(result.reason == (course.isReached ? nil : .secureConnectionFailed(.pinMismatch)))
        let warning: ExchangeEvent.Warning =
            course.daysLeft > 0
            ? .pinsExpireSoon(host: "localhost", on: expires) : .pinsExpired(host: "localhost", on: expires)
        #expect(listener.entries == (course.warns ? [warning] : []))
    }

    @Test("A connection made while pins were not enforced is not used when they are")
    func reuse() async throws {
        let nginx = try await Nginx.shared()
        let clock = ManualClock()
        let expires = clock.date.addingTimeInterval(Self.day)
        let transport = transport(
            nginx, [TransportConfiguration.TLS.PinSet(hosts: ["localhost"], keys: Self.others, expires: expires)])
        let request = try HTTPRequest(.get, url: nginx.secure() + "/empty")
        let later = ManualClock(date: expires.addingTimeInterval(1))
        #expect(try await transport.send(request, in: ExchangeContext(time: later)).status == .noContent)
        let result = await outcome(Task { try await transport.send(request, in: ExchangeContext(time: clock)) })
        #expect(result.reason == .secureConnectionFailed(.pinMismatch))
    }
}
