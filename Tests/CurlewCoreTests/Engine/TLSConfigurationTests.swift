// SPDX-License-Identifier: MIT

import CurlewAuthentication
import CurlewCaching
import Testing

@testable import CurlewCore

/// What can be said about a configuration without connecting.
@Suite(.timeLimit(.minutes(1)))
struct TLSConfigurationTests {
    static let keys = ["a", "b"].map { "sha256//" + MessageDigest.sha256(Data($0.utf8)).base64EncodedString() }

    @Test(
        "A host pattern means one host, or one label beneath a name",
        arguments: [
            ("api.example.com", "api.example.com", true), ("API.example.com", "api.example.com", true),
            ("api.example.com.", "api.example.com", true), ("api.example.com", "api.example.com.", true),
            ("api.example.com", "example.com", false), ("example.com", "api.example.com", false),
            ("*.example.com", "api.example.com", true), ("*.example.com", "example.com", false),
            ("*.example.com", "a.b.example.com", false), ("*.example.com", ".example.com", false),
            ("*.example.com", "apiexample.com", false), ("127.0.0.1", "127.0.0.1", true), ("::1", "[::1]", true),
        ] as [(String, String, Bool)])
    func patterns(pattern: String, host: String, isMeant: Bool) throws {
        #expect(try #require(HostPattern(pattern)).matches(host) == isMeant)
    }

    @Test(
        "Text that is no host is no pattern",
        arguments: [
            "", "*", "*.", "a.*.com", "https://example.com", "example.com:443", "a b", "example.com/", "*a.com",
        ])
    func badPatterns(pattern: String) {
        #expect(HostPattern(pattern) == nil)
        let set = TransportConfiguration.TLS.PinSet(hosts: [pattern], keys: Self.keys)
        #expect(TransportConfiguration(tls: TransportConfiguration.TLS(pins: [set])).problems.count == 1)
        let identity = TransportConfiguration.TLS.ClientIdentity.pkcs12File(
            "client.p12", passphrase: "", hosts: [pattern])
        #expect(TransportConfiguration(tls: TransportConfiguration.TLS(identity: identity)).problems.count == 1)
    }

    @Test("An exact host comes before a pattern, and the first of equals counts")
    func choice() {
        let wild = TransportConfiguration.TLS.PinSet(hosts: ["*.example.com"], keys: Self.keys)
        let exact = TransportConfiguration.TLS.PinSet(hosts: ["api.example.com"], keys: Self.keys, mode: .reportOnly)
        let second = TransportConfiguration.TLS.PinSet(hosts: ["api.example.com"], keys: [])
        #expect([wild, exact, second].first(for: "api.example.com") == exact)
        #expect([wild, exact].first(for: "www.example.com") == wild)
        #expect([wild, exact].first(for: "example.com") == nil)
    }

    @Test("A pin set needs a backup key, a host, and keys that are pins")
    func pinProblems() {
        func problems(_ hosts: [String], _ keys: [String]) -> [String] {
            TransportConfiguration(
                tls: TransportConfiguration.TLS(pins: [TransportConfiguration.TLS.PinSet(hosts: hosts, keys: keys)])
            )
            .problems
        }
        #expect(problems(["a.example"], Self.keys).isEmpty)
        #expect(problems([], Self.keys).count == 1)
        for keys in [[], [Self.keys[0]], [Self.keys[0], Self.keys[0]]] {
            let found = problems(["a.example"], keys)
            #expect(found.count == 1 && found[0].contains("backup key"), "\(found)")
        }
        for key in ["", "sha256//", "sha256//AAAA", "sha1//" + Self.keys[0].dropFirst(8), Self.keys[0] + ";"] {
            #expect(problems(["a.example"], Self.keys + [key]).count == 1, "\(key)")
        }
    }

    @Test("No description shows a key or a passphrase")
    func secrets() {
        let secret = "open sesame"
        let data = Data(secret.utf8)
        let identities: [TransportConfiguration.TLS.ClientIdentity] = [
            .pem(certificate: data, key: data, passphrase: secret), .pkcs12(data, passphrase: secret),
            .pemFiles(certificate: "a.pem", key: "a.key", passphrase: secret),
            .pkcs12File("a.p12", passphrase: secret),
        ]
        for identity in identities {
            let configuration = TransportConfiguration(tls: TransportConfiguration.TLS(identity: identity))
            var dumped = ""
            dump(configuration, to: &dumped)
            for text in ["\(identity)", "\(configuration)", String(reflecting: configuration), dumped] {
                #expect(text.contains("TransportConfiguration.TLS.ClientIdentity("))
                #expect(!text.contains(secret) && !text.contains("111, 112, 101"), "\(text)")
            }
        }
    }

    @Test(
        "The digest is SHA-256",
        arguments: [
            ("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            ("abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
        ])
    func digest(text: String, expected: String) {
        #expect(MessageDigest.sha256(Data(text.utf8)).base64EncodedString() == expected)
    }

    @Test("A pin set's mode and expiry decide what a server's key means")
    func pinVerdict() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        func judge(_ key: String?, _ mode: TransportConfiguration.TLS.PinSet.Mode, expires: Date? = nil) -> (
            [ExchangeEvent.Warning], String?
        ) {
            let pins = TransportConfiguration.TLS.PinSet(
                hosts: ["a.example"], keys: ["sha256//a", "sha256//b"], expires: expires, mode: mode)
            // For this scope, keys further up the path count for nothing.
            return pins.verdict(on: { [key, "sha256//a"] }, host: "a.example", at: now)
        }
        let day = 86_400.0
        for mode in [TransportConfiguration.TLS.PinSet.Mode.enforce, .reportOnly] {
            #expect(judge("sha256//b", mode) == ([], nil))
            let (ended, soon) = (now - day, now + day)
            #expect(judge("sha256//x", mode, expires: ended) == ([.pinsExpired(host: "a.example", on: ended)], nil))
            #expect(judge("sha256//a", mode, expires: soon) == ([.pinsExpireSoon(host: "a.example", on: soon)], nil))
        }
        #expect(judge("sha256//x", .enforce) == ([], "sha256//x"))
        #expect(judge(nil, .enforce) == ([], "unreadable"), "a certificate that cannot be read has no key")
        #expect(judge("sha256//x", .reportOnly) == ([.pinMismatch(host: "a.example", found: "sha256//x")], nil))
        let soon = now + day
        #expect(
            judge("sha256//x", .reportOnly, expires: soon)
                == (
                    [
                        .pinsExpireSoon(host: "a.example", on: soon),
                        .pinMismatch(host: "a.example", found: "sha256//x"),
                    ], nil
                ))
    }

    @Test(
        "The scope of a pin set decides which keys of a path are compared",
        arguments: [
            (["a", "x"], true, true), (["x", "a"], false, true), (["x", "y", "b"], false, true),
            (["x", "y"], false, false), ([nil, "a"], false, true), ([nil], false, false), ([], false, false),
        ] as [([String?], Bool, Bool)])
    func scopes(chain: [String?], isPinnedServer: Bool, isPinnedPath: Bool) {
        let now = Date(timeIntervalSince1970: 1_000_000)
        for (scope, isPinned) in [
            (TransportConfiguration.TLS.PinSet.Scope.serverCertificate, isPinnedServer), (.verifiedChain, isPinnedPath),
        ] {
            for mode in [TransportConfiguration.TLS.PinSet.Mode.enforce, .reportOnly] {
                let pins = TransportConfiguration.TLS.PinSet(
                    hosts: ["a.example"], keys: ["a", "b"], scope: scope, mode: mode)
                let (warnings, refused) = pins.verdict(on: { chain }, host: "a.example", at: now)
                let shown = (scope == .serverCertificate ? Array(chain.prefix(1)) : chain).map { $0 ?? "unreadable" }
                let found = shown.isEmpty ? "unreadable" : shown.joined(separator: ", ")
                #expect(refused == (isPinned || mode == .reportOnly ? nil : found))
                let mismatch = ExchangeEvent.Warning.pinMismatch(host: "a.example", found: found)
                #expect(warnings == (isPinned || mode == .enforce ? [] : [mismatch]))
            }
        }
    }

    @Test("The path of an expired set is not read, and a long path is shown in part")
    func pathBounds() {
        let now = Date(timeIntervalSince1970: 1_000_000)
        var pins = TransportConfiguration.TLS.PinSet(
            hosts: ["a.example"], keys: Self.keys, scope: .verifiedChain, expires: now)
        var asked = 0
        let verdict = pins.verdict(
            on: {
                asked += 1
                return []
            }, host: "a.example", at: now)
        #expect(asked == 0 && verdict.refused == nil && verdict.warnings == [.pinsExpired(host: "a.example", on: now)])
        pins.expires = nil
        let long = (0..<100).map { String?("key\($0)") }
        let found = pins.verdict(on: { long }, host: "a.example", at: now).refused
        #expect(found == (0..<10).map { "key\($0)" }.joined(separator: ", "))
        #expect(pins.verdict(on: { long + [Self.keys[1]] }, host: "a.example", at: now).refused == nil)
        let error = pins.refusal(of: "a.example", found: found ?? "")
        #expect(error.reason == .secureConnectionFailed(.pinMismatch))
        #expect(error.detail.contains("verified path of a.example") && error.detail.contains("key9"))
        #expect(TransportConfiguration(tls: TransportConfiguration.TLS(pins: [pins])).problems.isEmpty)
        pins.keys = [Self.keys[0]]
        #expect(
            TransportConfiguration(tls: TransportConfiguration.TLS(pins: [pins])).problems.count == 1, "no backup key")
    }
}
